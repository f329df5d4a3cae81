// A shared object that is loaded while threads run; each calls into it.
// flags: -pthread
// shared: parts/plugin.c
// libraries: -ldl
// variants: -O2; clang -O2
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static pthread_barrier_t barrier;
static int (*work)(int);
static int sums[6];

static void *start(void *argument) {
    int *sum = argument;
    for (int i = 0; i < 5; i++)
        *sum += i;
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&turn);
    for (int i = 0; i < 4; i++)
        *sum += work(i);
    pthread_mutex_unlock(&turn);
    return NULL;
}

int main(void) {
    pthread_t threads[6];
    pthread_barrier_init(&barrier, NULL, 7);
    for (int i = 0; i < 6; i++)
        pthread_create(&threads[i], NULL, start, &sums[i]);
    pthread_barrier_wait(&barrier);
    void *object = dlopen("./plugin.so", RTLD_NOW);
    if (!object)
        return 1;
    work = (int (*)(int))dlsym(object, "plugin_work");
    pthread_barrier_wait(&barrier);
    int total = 0;
    for (int i = 0; i < 6; i++) {
        pthread_join(threads[i], NULL);
        total += sums[i];
    }
    printf("%d\n", total);
    dlclose(object);
    return 0;
}

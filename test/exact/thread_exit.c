// pthread_exit in the depth of a thread, with cleanup handlers, and in main.
// flags: -pthread
// libraries: -Wl,--no-as-needed -lgcc_s
// variants: -O0; -O2; clang -O2; -O2 -fexceptions
#include <pthread.h>
#include <stdio.h>

static int cleaned[4];

static void clean(void *argument) {
    ++*(int *)argument;
}

__attribute__((noinline)) static int descend(int depth, int *place) {
    int result = 0;
    pthread_cleanup_push(clean, place);
    if (depth == 0)
        pthread_exit(place);
    result = descend(depth - 1, place) + 1;
    pthread_cleanup_pop(1);
    return result;
}

static void *start(void *argument) {
    descend(3, argument);
    return NULL;
}

static void *last(void *argument) {
    pthread_t *first = argument;
    pthread_join(*first, NULL);
    printf("%d %d %d %d\n", cleaned[0], cleaned[1], cleaned[0], cleaned[1]);
    return NULL;
}

int main(void) {
    static pthread_t self;
    pthread_t threads[4], end;
    self = pthread_self();
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, start, &cleaned[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    pthread_create(&end, NULL, last, &self);
    pthread_exit(NULL);
}

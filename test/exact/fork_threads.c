// fork in a thread of a program with several: the child has this thread alone.
// flags: -pthread
// variants: -O0; -O2; clang -O2
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static int total;

__attribute__((noinline)) static int work(int n) {
    int sum = n;
    while (n-- > 0)
        sum ^= n * 5;
    return sum & 31;
}

static void *start(void *argument) {
    int number = *(int *)argument, status = 0;
    work(10 * number);
    pthread_mutex_lock(&turn);
    pid_t child = fork();
    if (child == 0) {
        pthread_t thread;
        static int zero;
        if (number > 0) {
            total = work(5);
            _exit(total);
        }
        number = 1; /* a child that starts threads again */
        (void)thread;
        (void)zero;
        _exit(work(9));
    }
    waitpid(child, &status, 0);
    total += WEXITSTATUS(status) + work(number);
    pthread_mutex_unlock(&turn);
    return NULL;
}

int main(void) {
    static int numbers[3] = {0, 1, 2};
    for (int i = 0; i < 3; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, start, &numbers[i]);
        pthread_join(thread, NULL);
    }
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, start, &numbers[1]);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    printf("%d\n", total);
    return 0;
}

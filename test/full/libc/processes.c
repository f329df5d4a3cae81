/* processes.c: a forked child, threads, and a process that posix_spawn makes. */
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    THREADS = 4
};

extern char **environ;

static int work(int n) {
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += i;
    return sum;
}

static void *run_thread(void *nothing) {
    char text[40];
    (void)nothing;
    snprintf(text, sizeof text, "%d", work(1000));
    return (void *)(long)atoi(text);
}

int main(int argc, char **argv) {
    char *arguments[] = {argv[0], "again", NULL};
    pthread_t threads[THREADS];
    int status;
    long sum = 0;
    if (argc > 1)
        return work(10) == 0;
    pid_t process = fork();
    if (!process) {
        printf("child %d\n", work(100));
        fflush(stdout);
        _exit(3);
    }
    waitpid(process, &status, 0);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, run_thread, NULL);
    for (int i = 0; i < THREADS; i++) {
        void *result;
        pthread_join(threads[i], &result);
        sum += (long)result;
    }
    posix_spawn(&process, argv[0], NULL, NULL, arguments, environ);
    waitpid(process, &status, 0);
    printf("sum %ld %d\n", sum, status);
    return 0;
}

/* turns.c KIND N: two processes or threads wake each other N times: "processes" and "threads" by
 * pipes, "semaphores" two threads by futexes. */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int there[2], back[2];
static sem_t asked, answered;
static long turns;

static void *echo(void *unused) {
    char byte;
    for (long i = 0; i < turns; i++)
        if (read(there[0], &byte, 1) != 1 || write(back[1], &byte, 1) != 1)
            abort();
    return unused;
}

static void *answer(void *unused) {
    for (long i = 0; i < turns; i++) {
        sem_wait(&asked);
        sem_post(&answered);
    }
    return unused;
}

static void ask_by_pipes(void) {
    char byte = 'x';
    for (long i = 0; i < turns; i++)
        if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
            abort();
}

static void ask_by_semaphores(void) {
    for (long i = 0; i < turns; i++) {
        sem_post(&asked);
        sem_wait(&answered);
    }
}

int main(int count, char **arguments) {
    const char *kind = count > 1 ? arguments[1] : "";
    pthread_t thread;
    turns = count > 2 ? atol(arguments[2]) : 100000;
    if (pipe(there) != 0 || pipe(back) != 0)
        return 2;
    sem_init(&asked, 0, 0);
    sem_init(&answered, 0, 0);
    if (strcmp(kind, "processes") == 0) {
        if (fork() == 0) {
            echo(NULL);
            _exit(0);
        }
        ask_by_pipes();
        wait(NULL);
        return 0;
    }
    if (strcmp(kind, "threads") == 0 && pthread_create(&thread, NULL, echo, NULL) == 0)
        ask_by_pipes();
    else if (strcmp(kind, "semaphores") == 0 && pthread_create(&thread, NULL, answer, NULL) == 0)
        ask_by_semaphores();
    else
        return 2;
    pthread_join(thread, NULL);
    return 0;
}

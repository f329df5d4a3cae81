// A thread and a child that count slowly, and say at which moments.
#include <pthread.h>
#include <quipu.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    ROUNDS = 200
};

static long own[2];

static void say(int number) {
    struct quipu_moment moment = quipu_now();
    char text[200], line[300];
    quipu_print_moment(&moment, text, sizeof text);
    int size = snprintf(line, sizeof line, "%s %d %ld\n", text, number, own[number]);
    if (write(1, line, (size_t)size) != size)
        abort();
}

__attribute__((noinline)) static void count(int number) {
    own[number]++;
}

static void *work(void *number) {
    int me = *(int *)number;
    for (int i = 1; i <= ROUNDS; i++) {
        count(me);
        usleep(3000);
        if (i % 10 == 0)
            say(me);
    }
    return NULL;
}

int main(void) {
    pthread_t thread;
    int numbers[2] = {0, 1}, status;
    pthread_create(&thread, NULL, work, &numbers[1]);
    pid_t child = fork();
    if (child == 0) {
        work(&numbers[0]);
        _exit(4);
    }
    pthread_join(thread, NULL);
    waitpid(child, &status, 0);
    return WEXITSTATUS(status) + 2;
}

// Functions that end with a jump to an allocating function, while signals of another thread arrive.
// In the trace's build the jump is a call, so it is not what is stepped.
// flags: -pthread
// variants: -O2; -O2 -fPIE -pie -fno-plt; -O2 -static; clang -O2
// counts
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define APART __attribute__((noinline))

enum { SIGNALS = 200, BLOCKS = 64, ROUNDS = 20000 };

static volatile sig_atomic_t handled;
static pthread_t main_thread;
static int answers[2];

APART static void *get(size_t size) {
    return malloc(size);
}
APART static void *get_either(size_t size, int zeros) {
    if (zeros > 1)
        return calloc(size, 1);
    return zeros ? aligned_alloc(64, size * 64) : get(size);
}
APART static void *resize(void *block, size_t size) {
    return realloc(block, size);
}
APART static char *copy(const char *text) {
    return strdup(text);
}
static void *(*volatile any)(size_t) = get;

static void handler(int signal) {
    handled += signal == SIGUSR1;
    if (write(answers[1], "", 1) != 1)
        _exit(2);
}

static void *send(void *argument) {
    for (int i = 0; i < SIGNALS; i++) {
        char answer;
        pthread_kill(main_thread, SIGUSR1);
        if (read(answers[0], &answer, 1) != 1)
            _exit(1);
    }
    return argument;
}

static long allocate(void) {
    long sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
        unsigned char *block = get_either(1 + round % BLOCKS, round % 3), *other = any(40);
        block[0] = other[0] = (unsigned char)round;
        block = resize(block, 200 + round % BLOCKS);
        char *text = copy("text");
        sum += block[0] + other[0] + text[0];
        free(block);
        free(other);
        free(text);
    }
    return sum;
}

int main(void) {
    pthread_t sender;
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &action, NULL);
    main_thread = pthread_self();
    if (pipe(answers) || pthread_create(&sender, NULL, send, NULL))
        return 1;
    long sum = allocate();
    pthread_join(sender, NULL);
    printf("%d\n", handled == SIGNALS && sum != 0);
    return 0;
}

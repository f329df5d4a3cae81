// Signals arrive while the runtime measures the strings that a call will read, and while it records
// them, and in functions of the C library behind whose calls there is no record. Handlers call such
// functions, too.
// flags: -pthread -fno-builtin
// variants: -O2; -O0; clang -O2
// counts
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    SIGNALS = 60,
    LENGTH = 3000,
    ROUNDS = 1500
};

static char text[LENGTH], other[LENGTH], copy[LENGTH], block[40 * LENGTH];
static volatile long sum;
static volatile sig_atomic_t handled;
static int answers[2];

static void handle(int number) {
    char name[32];
    handled = handled + 1;
    strcpy(name, handled % 2 ? "handled" : "even");
    if (strcmp(name, "even") == 0)
        sum = sum + number;
    if (write(answers[1], "", 1) != 1)
        _exit(2);
}

static void *interrupt(void *argument) {
    pthread_t *thread = argument;
    char answer;
    for (int i = 0; i < SIGNALS; i++) {
        pthread_kill(*thread, SIGUSR1);
        if (read(answers[0], &answer, 1) != 1)
            _exit(3);
        usleep((unsigned)i * 7 % 50);
    }
    return NULL;
}

__attribute__((noinline)) static int compare(int i) {
    if (strcmp(text, other) < 0)
        return i;
    strcpy(copy, text + i % 100);
    return (int)strlen(copy);
}

/* No record is between these calls. */
__attribute__((noinline)) static long chain(int c) {
    memset(block, c, sizeof block);
    memcpy(block + LENGTH, block, sizeof block / 2);
    char *found = memchr(block, c + 1, sizeof block);
    return (found != NULL) + memcmp(block, block + 1, sizeof block - 1);
}

int main(void) {
    pthread_t self = pthread_self(), thread;
    memset(text, 'a', LENGTH - 1);
    memset(other, 'a', LENGTH - 2);
    signal(SIGUSR1, handle);
    if (pipe(answers) != 0)
        return 1;
    if (pthread_create(&thread, NULL, interrupt, &self))
        return 1;
    for (int i = 0; i < ROUNDS; i++)
        sum = sum + compare(i) + chain(i % 100);
    pthread_join(thread, NULL);
    printf("%d\n", (int)handled);
    return 0;
}

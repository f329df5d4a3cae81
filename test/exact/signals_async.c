// Signals that another thread sends at no certain moment, into a loop that never waits.
// Which instruction they hit differs from run to run; how often each one runs does not.
// The loop is long, so that most signals find it running: too long to step.
// flags: -pthread
// variants: -O0; -O2; -O3; clang -O2
// by-callgrind
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#ifndef ROUNDS /* test/trace has fewer */
enum { SIGNALS = 40, LENGTH = 64, ROUNDS = 100000, PAUSE = 100 };
#endif

static volatile sig_atomic_t handled;
static pthread_t main_thread;
static int table[LENGTH], answers[2];

static void handler(int signal) {
    for (int i = 0; i < 4; i++)
        table[i] ^= signal;
    handled++;
    if (write(answers[1], "", 1) != 1)
        _exit(2);
}

__attribute__((noinline)) static void mix(void) {
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 1; i < LENGTH; i++)
            table[i] = (table[i - 1] & 0xff) + table[i] * 3;
}

static void *send(void *argument) {
    for (int i = 0; i < SIGNALS; i++) {
        char answer;
        pthread_kill(main_thread, SIGUSR1);
        if (read(answers[0], &answer, 1) != 1)
            _exit(1);
        if (PAUSE)
            usleep(PAUSE);
    }
    return argument;
}

int main(void) {
    pthread_t sender;
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &action, NULL);
    main_thread = pthread_self();
    if (pipe(answers) || pthread_create(&sender, NULL, send, NULL))
        return 1;
    mix();
    pthread_join(sender, NULL);
    printf("%d\n", handled);
    return 0;
}

/* A program with a wild write, and a signal: for debuggers. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int counter, victim = 7;
int spare; /* nobody uses it */
static __thread int local = 12;
static volatile sig_atomic_t handled;

static void handle(int number) {
    handled = number;
}

static int work(int n) {
    int sum = 0;
    for (int i = 0; i < 1000; i++) {
        sum += i * counter + n;
        counter++;
    }
    return sum;
}

static void wild(int i) {
    int *place = &victim;
    local++;
    if (i == 6)
        *place = 666;
}

int main(void) {
    for (int i = 0; i < 10; i++) {
        char *text = malloc(100);
        memcpy(text, "hello", sizeof "hello");
        wild(i);
        printf("%d %d %s\n", i, work(i), text);
        fflush(stdout);
        free(text);
    }
    signal(SIGUSR1, handle);
    raise(SIGUSR1);
    printf("victim %d, signal %d\n", victim, handled);
    return 3;
}

// Signals arrive in loops that have the cursor in a register, and handlers move it, some of them to
// another buffer.
// flags: -pthread
// variants: -O2; clang -O2
// counts
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

enum {
    SIGNALS = 20,
    NODES = 64,
    ROUNDS = 64, /* of a handler: nodes */
    LONG_ROUNDS = 12000,
    MAIN_ROUNDS = 1500
};

struct node {
    struct node *next;
    int value;
};

static struct node nodes[NODES];
static int answers[2];
static volatile long sum;

/* No call: all records of the loop are in one stretch. */
__attribute__((noinline)) static long walk(const struct node *node) {
    long odd = 0;
    for (; node; node = node->next)
        if (node->value & 1)
            odd += node->value;
        else if (node->next)
            odd -= node->next->value;
    return odd;
}

static void handle(int number) {
    int rounds = number == SIGUSR1 ? ROUNDS : LONG_ROUNDS;
    for (int i = 0; i < rounds / NODES; i++)
        sum += walk(nodes);
    if (write(answers[1], "", 1) != 1)
        _exit(2);
}

static void *send(void *to) {
    char answer;
    for (int sent = 0; sent < SIGNALS; sent++) {
        pthread_kill(*(pthread_t *)to, sent % 4 == 3 ? SIGUSR2 : SIGUSR1);
        if (read(answers[0], &answer, 1) != 1)
            _exit(3);
    }
    return NULL;
}

int main(void) {
    pthread_t self = pthread_self(), sender;
    long total = 0;
    for (int i = 0; i < NODES; i++)
        nodes[i] = (struct node){i + 1 < NODES ? &nodes[i + 1] : NULL, i * 7 % 13};
    signal(SIGUSR1, handle);
    signal(SIGUSR2, handle);
    if (pipe(answers) != 0)
        return 1;
    pthread_create(&sender, NULL, send, &self);
    for (int i = 0; i < MAIN_ROUNDS; i++)
        total += walk(nodes);
    pthread_join(sender, NULL);
    printf("%ld\n", total);
    return 0;
}

// Functions whose first instruction, but for endbr64, is the head of a loop. One is a handler, too.
// flags: -fcf-protection=full
// modes: trace; moment,trace
// variants: -O1; -O2; -Os; -O2 -fcf-protection=none; clang -O2
// functions: count_down find mix descend interpret choose handle main
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static volatile int left = 5;
static volatile long sum;
static char text[] = "one two three four five six seven";

/* An argument leads to all addresses. */
NOINLINE int count_down(volatile int *counter) {
    for (;;)
        if (--*counter <= 0)
            return *counter;
}

NOINLINE const char *find(const char *at, char wanted) {
    while (*at != wanted)
        at++;
    return at;
}

/* All argument registers are in use. */
NOINLINE long mix(volatile long *a, long b, long c, long d, long e, long f) {
    do {
        *a += 1 + ((b ^ c) & 7);
        b += d;
        c -= e;
        d ^= f;
    } while (*a < 1000);
    return b + c + d;
}

/* It calls itself from its loop. */
NOINLINE int descend(volatile int *depth) {
    do
        if (--*depth > 0)
            descend(depth);
    while (*depth > 0);
    return *depth;
}

/* It goes on by a table. */
NOINLINE int interpret(const unsigned char *code) {
    static const void *const table[] = {&&add, &&twice, &&end};
    int value = 0;
    goto *table[*code++];
add:
    value += 3;
    goto *table[*code++];
twice:
    value *= 2;
    goto *table[*code++];
end:
    return value;
}

NOINLINE int choose(volatile int *next) {
    for (;;)
        switch (--*next) {
        case 0:
            return 1;
        case 1:
            sum += 2;
            break;
        case 2:
            sum -= 5;
            break;
        case 3:
            sum *= 3;
            break;
        case 4:
            sum ^= 9;
            break;
        case 5:
            sum += 70;
            break;
        default:
            *next = 5;
        }
}

static sigjmp_buf back;

/* The kernel calls it. */
NOINLINE void handle(int number, siginfo_t *info, void *context) {
    while (left > 0) {
        sum += left;
        left--;
    }
    if (number == SIGUSR2)
        siglongjmp(back, 1);
    left = info && context ? 3 : 0;
}

int main(void) {
    static const unsigned char code[] = {0, 1, 0, 1, 1, 2};
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO};
    int counter = 6, again = 0, depth = 4, next = 7;
    long value = 3;
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGUSR2, &action, NULL);
    printf("%d", count_down(&counter));
    printf(" %s", find(text, 'f'));
    printf(" %ld", mix(&value, 1, 2, 3, 4, 5));
    printf(" %d %d %d", descend(&depth), interpret(code), choose(&next));
    for (int i = 0; i < 3; i++)
        kill(getpid(), SIGUSR1);
    left = 4;
    handle(0, NULL, NULL);
    left = 2;
    if (!sigsetjmp(back, 1))
        raise(SIGUSR2);
    else
        again = count_down(&next);
    printf(" %ld %d %d\n", sum, again, left);
    return 0;
}

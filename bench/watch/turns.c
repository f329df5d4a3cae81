/* turns.c: a loop whose turns store to a table, and with "hit" to `cell`, which a debugger or quipu
 * watches.
 *
 *     turns TURNS miss|hit
 *
 * Prints the nanoseconds that a turn took, by the clock on the wall: a debugger's time is not the
 * program's.  A breakpoint at `ready` has what a debugger prepares in front of the time that is
 * taken. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    TABLE = 1024,
};

volatile unsigned long cell;
static volatile unsigned long table[TABLE];

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

__attribute__((noinline, noclone)) static void run(unsigned long turns, int hit) {
    if (hit)
        for (unsigned long i = 0; i < turns; i++)
            cell = i + 1;
    else
        for (unsigned long i = 0; i < turns; i++)
            table[i % TABLE] = i;
}

__attribute__((noinline, noclone)) static void ready(void) {
    __asm__ volatile("");
}

int main(int argc, char **argv) {
    unsigned long turns = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
    ready();
    double begin = now();
    run(turns, argc > 2 && strcmp(argv[2], "hit") == 0);
    printf("turn %.3f\n", (now() - begin) / (double)turns);
    return 0;
}

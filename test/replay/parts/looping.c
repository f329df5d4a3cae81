/* A loop without system calls, for interrupts by the keyboard. */
#include <stdio.h>
#include <stdlib.h>

unsigned long seed = 1;
int table[1 << 16], turns;

static unsigned next(void) {
    seed = seed * 6364136223846793005ul + 1442695040888963407ul;
    return (unsigned)(seed >> 33);
}

int main(int argc, char **argv) {
    long count = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
    for (long i = 0; i < count; i++) {
        table[next() & 0xffff] += (int)i;
        turns++;
    }
    printf("%d\n", table[7]);
    return 0;
}

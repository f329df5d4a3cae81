/* quipu_events.c: asks for the count of instructions as often as the argument says.  Prints the
 * same in all builds: how often it asked. */
#include <quipu.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    unsigned long calls = argc > 1 ? strtoul(argv[1], NULL, 10) : 1, call = 0;
    volatile uint64_t count;
    for (; call < calls; call++)
        count = quipu_events(QUIPU_INSTRUCTIONS);
    (void)count;
    printf("%lu\n", call);
    return 0;
}

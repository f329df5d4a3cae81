/* sieve.c: the sieve of Eratosthenes, a byte a number. */
#include "kernel.h"

#include <stdio.h>
#include <string.h>

enum {
    LIMIT = 500000
};

static unsigned char composite[LIMIT + 1];

static unsigned count_primes(void) {
    unsigned count = 0;
    memset(composite, 0, sizeof composite);
    for (unsigned i = 2; i <= LIMIT; i++) {
        if (composite[i])
            continue;
        count++;
        for (unsigned j = 2 * i; j <= LIMIT; j += i)
            composite[j] = 1;
    }
    return count;
}

int main(int argc, char **argv) {
    unsigned sum = 0;
    for (unsigned round = kernel_rounds(argc, argv, 900); round; round--)
        sum += count_primes();
    printf("%u\n", sum);
    return 0;
}

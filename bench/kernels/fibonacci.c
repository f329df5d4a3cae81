/* fibonacci.c: the recursive definition; nothing but calls. */
#include "kernel.h"

#include <stdio.h>

static unsigned fibonacci(unsigned n) {
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

int main(int argc, char **argv) {
    unsigned sum = 0;
    for (unsigned round = kernel_rounds(argc, argv, 500); round; round--)
        sum += fibonacci(31 + round % 2);
    printf("%u\n", sum);
    return 0;
}

/* Goes to each of its processors, and says what cpuid tells there. */
#define _GNU_SOURCE
#include <cpuid.h>
#include <sched.h>
#include <stdio.h>

int main(void) {
    unsigned a, b, c, d;
    for (int i = 0; i < 8; i++) {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(i, &one);
        if (sched_setaffinity(0, sizeof one, &one) != 0)
            continue;
        __cpuid(1, a, b, c, d);
        printf("%d: %x\n", i, b >> 24);
    }
    return 3;
}

// Functions that begin with the alignment of a loop, not at an aligned address: nothing stands between
// a function's label and its padding.  gcc 16 writes them at -O1.
// flags: -fno-align-functions
// variants: -O2; -O2 -fPIC; -O2 -fno-pie -no-pie; -O1 -falign-loops=32; -Os -falign-loops=64; -O2 -fcf-protection; -O2 -static
#include <stdint.h>
#include <stdio.h>

static uint8_t area[100];

#define KERNEL __attribute__((noinline, noclone))

KERNEL static int one(int n) {
    return n + 1;
}

KERNEL static void by_register(uint8_t *to, int64_t step, uint64_t count) {
    do {
        *to = (uint8_t)(*to + 1);
        to += step;
    } while (--count);
}

KERNEL static void to_zero(uint8_t *to, uint64_t count) {
    do
        to[--count] ^= 1;
    while (count);
}

KERNEL static void until(volatile int *place, int value) {
    do
        *place += 3;
    while (*place < value);
}

int main(void) {
    volatile int place = one(4);
    by_register(area, 3, 20);
    by_register(area + 60, -2, 30);
    to_zero(area, 50);
    until(&place, 100);
    unsigned sum = 0;
    for (unsigned i = 0; i < sizeof area; i++)
        sum = sum * 3 + area[i];
    printf("%u %d\n", sum, place);
    return 0;
}

/* Fills tables of numbers, for a second or two, with few system calls: no instruction is passed
 * seldom. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    SIZE = 1 << 8
};

static uint32_t table[SIZE];

static uint32_t mix(uint32_t value) {
    value ^= value << 13;
    value ^= value >> 17;
    return value ^ value << 5;
}

static uint32_t fill(uint32_t state) {
    for (size_t i = 0; i < SIZE; i++) {
        state = mix(state);
        table[i] = state;
    }
    return state;
}

static double smooth(void) {
    double sum = 0;
    for (size_t i = 1; i + 1 < SIZE; i++)
        sum += (double)(table[i - 1] + table[i] + table[i + 1]) / 3;
    return sum;
}

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 100;
    uint32_t state = 2463534242;
    for (int i = 0; i < rounds; i++) {
        state = fill(state);
        if (i % 50000 == 0)
            printf("%d %u %.0f\n", i, state, smooth());
        else if (smooth() < 0)
            return 1;
    }
    return 0;
}

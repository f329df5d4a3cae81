/* vector.c: loops that the compiler vectorizes: y = ax + y, an integer sum, a maximum.
 * flags: -O3 */
#include "kernel.h"

#include <stdio.h>

enum {
    N = 8192
};

static float x[N], y[N];
static uint32_t words[N];

static void scale_and_add(float factor) {
    for (int i = 0; i < N; i++)
        y[i] = factor * x[i] + y[i];
}

static uint32_t sum_words(void) {
    uint32_t sum = 0;
    for (int i = 0; i < N; i++)
        sum += words[i];
    return sum;
}

static uint32_t greatest_word(void) {
    uint32_t greatest = 0;
    for (int i = 0; i < N; i++)
        greatest = words[i] > greatest ? words[i] : greatest;
    return greatest;
}

int main(int argc, char **argv) {
    uint64_t state = 2;
    for (int i = 0; i < N; i++) {
        x[i] = (float)(next_random(&state) % 8);
        y[i] = (float)(i % 1000);
        words[i] = next_random(&state) >> 8;
    }
    uint32_t checksum = 0;
    for (unsigned round = kernel_rounds(argc, argv, 160000); round; round--) {
        scale_and_add((float)(round % 3) - 1);
        words[round % N] ^= round;
        checksum = checksum * 31 + sum_words() + greatest_word();
    }
    printf("%u %.0f\n", checksum, (double)y[N / 2]);
    return 0;
}

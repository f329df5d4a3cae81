/* matrix.c: dense matrix product, the textbook's three loops. */
#include "kernel.h"

#include <stdio.h>

enum {
    N = 240
};

static double a[N][N], b[N][N], c[N][N];

static void multiply(void) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0;
            for (int k = 0; k < N; k++)
                sum += a[i][k] * b[k][j];
            c[i][j] = sum;
        }
}

int main(int argc, char **argv) {
    uint64_t state = 1;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            a[i][j] = next_random(&state) % 100;
            b[i][j] = next_random(&state) % 100;
        }
    double trace = 0;
    for (unsigned round = kernel_rounds(argc, argv, 240); round; round--) {
        multiply();
        for (int i = 0; i < N; i++)
            trace += c[i][i];
        a[round % N][0] += 1;
    }
    printf("%.0f\n", trace);
    return 0;
}

// Stores of AVX and AVX2: halves, masks, past the caches, and what compilers make of loops.
// flags: -mavx2
// requires: avx2
// watch: place = place:256
// watch: place[33..95] = place+33:63
// watch: numbers[10] = numbers+40:4
// watch: sums = sums:128
// variants: -O2; -O0; -O3 -march=x86-64-v3; clang -O3; -O2 -fno-pie -no-pie
#include <immintrin.h>
#include <stdio.h>

_Alignas(64) unsigned char place[256];
int numbers[64];
double sums[16];

__attribute__((noinline)) static void whole(unsigned char *p, __m256i v) {
    __asm__ volatile("vmovdqa %1, (%0)\n\t"
                     "vmovdqu %1, 30(%0)\n\t"
                     "vmovaps %1, 64(%0)\n\t"
                     "vmovupd %1, 90(%0)\n\t"
                     "vmovntdq %1, 128(%0)\n\t"
                     "vmovntps %1, 160(%0)\n\t"
                     "vextracti128 $1, %1, 30(%0)\n\t"
                     "vextractf128 $0, %1, 50(%0)\n\t"
                     "vmovdqu %x1, 200(%0)\n\t"
                     "vmovq %x1, 220(%0)\n\t"
                     "vmovd %x1, 229(%0)\n\t"
                     "vmovss %x1, 1(%0)\n\t"
                     "vmovsd %x1, 6(%0)\n\t"
                     "vmovhps %x1, 15(%0)\n\t"
                     "vmovlpd %x1, 24(%0)\n\t"
                     "vpextrb $9, %x1, 33(%0)\n\t"
                     "vpextrw $2, %x1, 35(%0)\n\t"
                     "vpextrd $3, %x1, 40(%0)\n\t"
                     "vpextrq $0, %x1, 45(%0)\n\t"
                     "vextractps $2, %x1, 55(%0)\n\t"
                     "vcvtps2ph $0, %1, 60(%0)\n\t"
                     "vstmxcsr 240(%0)" ::"r"(p),
                     "x"(v)
                     : "memory");
}

__attribute__((noinline)) static void masked(unsigned char *p, __m256i v, __m256i mask) {
    __asm__ volatile("vpmaskmovd %1, %2, (%0)\n\t"
                     "vpmaskmovq %1, %2, 35(%0)\n\t"
                     "vmaskmovps %1, %2, 70(%0)\n\t"
                     "vmaskmovpd %1, %2, 110(%0)\n\t"
                     "vpmaskmovd %x1, %x2, 91(%0)\n\t"
                     "mov %0, %%rdi\n\t"
                     "vmaskmovdqu %x2, %x1" ::"r"(p),
                     "x"(v), "x"(mask)
                     : "rdi", "memory");
}

__attribute__((noinline)) static void loops(int *to, const int *from, double *sum, int n) {
    for (int i = 0; i < n; i++)
        to[i] = from[i] * 3 + i;
    for (int i = 0; i < n; i++)
        if (to[i] & 1)
            to[i] -= 1;
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 16; i++)
            sum[i] += to[i] * 0.5;
}

int main(void) {
    static int from[64];
    for (int i = 0; i < 64; i++)
        from[i] = 64 - i;
    __m256i v = _mm256_set_epi32(0x01020304, 0x15161718, 0x292a2b2c, 0x3d3e3f40, 0x41424344,
                                 0x55565758, 0x696a6b6c, 0x7d7e7f00);
    whole(place, v);
    masked(place, _mm256_slli_epi32(v, 1), _mm256_set_epi32(-1, 0, -1, 0, 0x7fffffff, -1, 0, 1));
    masked(place + 32, _mm256_slli_epi32(v, 1), _mm256_set_epi32(0, 0, 0, 0, 1, 1, 1, 1));
    masked(place + 64, v, _mm256_set_epi32(0, -1, 0, 0, -1, 0, -1, -1));
    loops(numbers, from, sums, 64);
    loops(numbers + 1, numbers, sums, 61);
    printf("%d %d %g\n", place[40], numbers[10], sums[3]);
    return 0;
}

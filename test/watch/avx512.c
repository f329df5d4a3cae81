// Stores of AVX-512: masked ones write only what is chosen, compressed ones as much as is chosen,
// scatters anywhere, the last element last; truncating ones, and mask registers.
// flags: -mavx512f -mavx512vl -mavx512bw -mavx512dq
// requires: avx512f avx512vl avx512bw avx512dq
// watch: place = place:512
// watch: place[65..126] = place+65:62
// watch: spread = spread:256
// watch: spread[13] = spread+52:4
// watch: numbers[20] = numbers+80:4
// variants: -O2; -O0; -O3 -march=x86-64-v4; clang -O3 -march=x86-64-v4; -O2 -fno-pie -no-pie
#include <immintrin.h>
#include <stdio.h>

_Alignas(64) unsigned char place[512];
int spread[64];
int numbers[128];

__attribute__((noinline)) static void whole(unsigned char *p, __m512i v) {
    __asm__ volatile("vmovdqa64 %1, (%0)\n\t"
                     "vmovdqu8 %1, 65(%0)\n\t"
                     "vmovups %1, 131(%0)\n\t"
                     "vmovntdq %1, 192(%0)\n\t"
                     "vextracti64x4 $1, %1, 259(%0)\n\t"
                     "vextracti32x4 $2, %1, 300(%0)\n\t"
                     "vextractf64x2 $3, %1, 317(%0)\n\t"
                     "vpmovdb %1, 340(%0)\n\t"
                     "vpmovqw %1, 360(%0)\n\t"
                     "vpmovusqd %1, 380(%0)\n\t"
                     "vmovdqu64 %1, -64(%0,%2,8)" ::"r"(p),
                     "v"(v), "r"(64ul)
                     : "memory");
}

__attribute__((noinline)) static void masked(unsigned char *p, __m512i v, unsigned long mask) {
    __asm__ volatile("kmovq %2, %%k1\n\t"
                     "vmovdqu8 %1, (%0)%{%%k1%}\n\t"
                     "vmovdqu16 %1, 70(%0)%{%%k1%}\n\t"
                     "vmovdqu32 %1, 140(%0)%{%%k1%}\n\t"
                     "vmovupd %1, 210(%0)%{%%k1%}\n\t"
                     "vmovss %x1, 60(%0)%{%%k1%}\n\t"
                     "vmovsd %x1, 65(%0)%{%%k1%}\n\t"
                     "vmovdqu32 %t1, 90(%0)%{%%k1%}\n\t"
                     "vpcompressd %1, 66(%0)%{%%k1%}\n\t"
                     "vcompresspd %1, 280(%0)%{%%k1%}\n\t"
                     "vpmovqb %1, 350(%0)%{%%k1%}\n\t"
                     "vpmovsdw %1, 365(%0)%{%%k1%}\n\t"
                     "vextracti32x4 $1, %1, 400(%0)%{%%k1%}\n\t"
                     "vcvtps2ph $0, %1, 420(%0)%{%%k1%}\n\t"
                     "kmovq %%k1, 460(%0)\n\t"
                     "kmovw %%k1, 470(%0)\n\t"
                     "kmovb %%k1, 473(%0)\n\t"
                     "kmovd %%k1, 475(%0)" ::"r"(p),
                     "v"(v), "r"(mask)
                     : "k1", "memory");
}

__attribute__((noinline)) static void scatter(int *p, __m512i v, __m512i index, unsigned mask) {
    __asm__ volatile("kmovd %3, %%k1\n\t"
                     "vpscatterdd %1, (%0,%2,4)%{%%k1%}\n\t"
                     "kmovd %3, %%k2\n\t"
                     "vpscatterdq %1, 8(%0,%t2,1)%{%%k2%}\n\t"
                     "kmovd %3, %%k2\n\t"
                     "vscatterdps %t1, 100(%0,%t2,2)%{%%k2%}" ::"r"(p),
                     "v"(v), "v"(index), "r"(mask)
                     : "k1", "k2", "memory");
}

__attribute__((noinline)) static void loops(int *to, const int *condition, int n) {
    for (int i = 0; i < n; i++)
        if (condition[i] % 3)
            to[i] = condition[i] + 7;
    for (int i = 0; i < n / 2; i++)
        to[condition[i] & 63] = i;
}

int main(void) {
    static int conditions[128];
    for (int i = 0; i < 128; i++)
        conditions[i] = i * 7;
    __m512i v = _mm512_set_epi32(0x01020304, 0x15161718, 0x292a2b2c, 0x3d3e3f40, 0x41424344,
                                 0x55565758, 0x696a6b6c, 0x7d7e7f00, 9, 10, 11, 12, 13, 14, 15, 16);
    __m512i index = _mm512_set_epi32(0, 3, 13, 3, 20, 30, 1, 2, 13, 4, 5, 50, 40, 13, 7, 8);
    whole(place, v);
    masked(place, _mm512_slli_epi32(v, 1), 0xf0f0123456789abd);
    masked(place + 5, _mm512_slli_epi32(v, 2), 0);
    masked(place + 8, _mm512_slli_epi32(v, 3), 0x8000000000000003);
    scatter(spread, v, index, 0xffff);
    scatter(spread, _mm512_slli_epi32(v, 1), index, 0x9041);
    scatter(spread + 1, v, _mm512_set1_epi32(12), 0xa050);
    scatter(spread, v, index, 0);
    loops(numbers, conditions, 128);
    loops(numbers + 3, conditions, 101);
    printf("%d %d %d\n", place[70], spread[13], numbers[20]);
    return 0;
}

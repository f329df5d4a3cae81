// Scatters, gathers, loads and stores of the elements that a mask register selects, compressed ones,
// broadcasts, and the vectors from 16 on: each element that is accessed.
// flags: -march=x86-64-v4
// requires: avx512f avx512vl avx512bw avx512dq
// variants: -O0; -O2; -O3; clang -O3; -O2 -fno-pie -no-pie
#include <immintrin.h>
#include <stdio.h>
static int table[256], out[256];
static char bytes[64];
static double reals[64];

__attribute__((noinline)) static void scatter(int *to, __m512i index, __m512i value,
                                              __mmask16 mask) {
    _mm512_mask_i32scatter_epi32(to, mask, index, value, 4);
}

__attribute__((noinline)) static int gather(const int *from, __m512i index, __mmask16 mask) {
    __m512i none = _mm512_setzero_si512();
    return _mm512_reduce_add_epi32(_mm512_mask_i32gather_epi32(none, mask, index, from, 4));
}

__attribute__((noinline)) static double gather_high(const double *from, __m512i index,
                                                    __mmask8 mask) {
    __m512d got = _mm512_setzero_pd();
    __asm__("vmovdqa64 %[index], %%zmm17; kmovb %[mask], %%k2;"
            "vgatherqpd (%[from],%%zmm17,8), %[got]%{%%k2%}"
            : [got] "+v"(got)
            : [index] "v"(index), [mask] "r"((int)mask), [from] "r"(from)
            : "xmm17", "k2", "memory");
    return _mm512_reduce_add_pd(got);
}

__attribute__((noinline)) static void scatter_small(double *to, __m128i index, __m128d value,
                                                    __mmask8 mask) {
    _mm_mask_i64scatter_pd(to, mask, index, value, 8);
}

__attribute__((noinline)) static void compress(int *to, __m512i value, __mmask16 mask) {
    _mm512_mask_compressstoreu_epi32(to, mask, value);
}

__attribute__((noinline)) static int expand(const int *from, __mmask16 mask) {
    return _mm512_reduce_add_epi32(_mm512_maskz_expandloadu_epi32(mask, from));
}

__attribute__((noinline)) static int broadcast(const int *from, __mmask16 mask) {
    __m512i sum = _mm512_set1_epi32(3);
    __asm__("vpaddd %1%{1to16%}, %0, %0%{%2%}" : "+v"(sum) : "m"(*from), "Yk"(mask));
    return _mm512_reduce_add_epi32(sum);
}

__attribute__((noinline)) static void copy(char *to, const char *from, __mmask64 mask) {
    _mm512_mask_storeu_epi8(to, mask, _mm512_maskz_loadu_epi8(mask, from));
}

__attribute__((noinline)) static void add(int *to, const int *from, int count) {
    for (int i = 0; i < count; i++)
        if (from[i] & 1)
            to[i] += from[i];
}

int main(void) {
    for (int i = 0; i < 256; i++)
        table[i] = i * 3 % 255;
    for (int i = 0; i < 64; i++)
        reals[i] = i;
    long sum = 0;
    for (int i = 0; i < 5; i++) {
        __m512i places = _mm512_setr_epi32(1, 2, 40, 80, i, 100, 120, 140, 160, 180, 181, 182, 183,
                                           199, 200, 210);
        __m512i few = _mm512_setr_epi64(i, 7, 50 - i, 3, 63, 2, 12, 13);
        scatter(out, places, _mm512_set1_epi32(7), (__mmask16)(0x1234 * i + 1));
        scatter_small(reals, _mm_set_epi64x(i, 9), _mm_set1_pd(2), (__mmask8)i);
        sum += gather(table, places, (__mmask16)(0x4321 * i));
        sum += (long)gather_high(reals, few, (__mmask8)(0x35 * i));
        compress(out + 5, _mm512_set1_epi32(i), (__mmask16)(0x7531 << i));
        sum += expand(table + i, (__mmask16)(0x1111 * i));
        sum += broadcast(table + 7, (__mmask16)(i / 2 * 0x8000));
        copy(bytes, (char *)table, 0x123456789abcdefull * (unsigned)(i + 1));
        add(out, table, 100 + i);
    }
    for (int i = 0; i < 256; i++)
        sum += out[i];
    for (int i = 0; i < 64; i++)
        sum += bytes[i] + (long)reals[i];
    printf("%ld\n", sum);
    return 0;
}

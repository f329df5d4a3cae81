// Gathers, and stores and loads of the elements that a vector selects: each element that is
// accessed.
// flags: -mavx2
// requires: avx2
// modes: trace; moment,trace
// variants: -O0; -O2; -O3; clang -O2; -O2 -fno-pie -no-pie
#include <immintrin.h>
#include <stdio.h>
static int table[256], out[256];
static double reals[64];
static char bytes[64];

__attribute__((noinline)) static int gather(const int *from, __m256i index) {
    __m256i got = _mm256_i32gather_epi32(from, index, 4);
    return _mm256_extract_epi32(got, 3) + _mm256_extract_epi32(got, 6);
}

__attribute__((noinline)) static long gather_wide(const void *from, __m256i index) {
    __m128i got = _mm256_i64gather_epi32(from, index, 1);
    return _mm_extract_epi32(got, 3);
}

__attribute__((noinline)) static double gather_some(const double *from, __m256i index,
                                                    __m256d mask) {
    __m256d got = _mm256_mask_i64gather_pd(_mm256_setzero_pd(), from, index, mask, 8);
    return got[0] + got[1] + got[2] + got[3];
}

__attribute__((noinline)) static double gather_two(const double *from, __m128i index,
                                                   __m128d mask) {
    __m128d got = _mm_mask_i32gather_pd(_mm_setzero_pd(), from, index, mask, 8);
    return got[0] + got[1];
}

__attribute__((noinline)) static void store(int *to, __m256i mask, __m256i value) {
    _mm256_maskstore_epi32(to, mask, value);
}

__attribute__((noinline)) static int load(const int *from, __m128i mask) {
    return _mm_extract_epi32(_mm_maskload_epi32(from, mask), 1);
}

__attribute__((noinline)) static void store_bytes(char *to, __m128i value, __m128i mask) {
    _mm_maskmoveu_si128(value, mask, to);
}

__attribute__((noinline)) static long look_up(int *to, const int *from, const int *index,
                                              int count) {
    long sum = 0;
    for (int i = 0; i < count; i++)
        sum += to[i] = from[index[i] & 255];
    return sum;
}

int main(void) {
    for (int i = 0; i < 256; i++)
        table[i] = i * 3 % 255;
    for (int i = 0; i < 64; i++)
        reals[i] = i;
    long sum = 0;
    for (int i = 0; i < 5; i++) {
        __m256i places = _mm256_setr_epi64x(i, 7, 50 - i, 3);
        sum += gather(table + 9 + i, _mm256_setr_epi32(1, 5, 9, i, 200, 33, -i, 12));
        sum += gather_wide(table + i, _mm256_setr_epi64x(4 * i, 8, -4 * i, 100));
        sum += (long)gather_some(reals, places, _mm256_setr_pd(-1, i & 1 ? -1 : 1, 0, -i));
        sum += (long)gather_two(reals, _mm_setr_epi32(i, 40, 1, 2), _mm_setr_pd(i - 2, -1));
        store(out + i, _mm256_setr_epi32(-1, 0, -1, -i, 0, 0, 3, -5), _mm256_set1_epi32(i));
        sum += load(table + i, _mm_setr_epi32(0, -1, i - 3, 0));
        store_bytes(
            bytes + i, _mm_set1_epi8(3),
            _mm_setr_epi8(-1, 0, 0, (char)-i, 4, 5, -6, 7, -8, 9, 10, -11, 12, 13, 14, -15));
        sum += look_up(out, table, table + i, 40 + i);
    }
    for (int i = 0; i < 256; i++)
        sum += out[i];
    for (int i = 0; i < 64; i++)
        sum += bytes[i];
    printf("%ld\n", sum);
    return 0;
}

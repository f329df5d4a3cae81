// Stores of SSE and MMX registers, whole and in parts, by masks and past the caches.
// flags: -msse4.1
// watch: place = place:160
// watch: place[30..33] = place+30:4
// watch: place[100..131] = place+100:32
// watch: floats[1] = floats+4:4
// variants: -O2; -O0; -O2 -fno-pie -no-pie; clang -O2; -O3
#include <emmintrin.h>
#include <smmintrin.h>
#include <stdint.h>
#include <stdio.h>

_Alignas(64) unsigned char place[160];
_Alignas(16) float floats[8];

__attribute__((noinline)) static void whole(unsigned char *p, __m128i v) {
    __asm__ volatile("movdqa %1, (%0)\n\t"
                     "movdqu %1, 23(%0)\n\t"
                     "movaps %1, 48(%0)\n\t"
                     "movups %1, 55(%0)\n\t"
                     "movapd %1, 80(%0)\n\t"
                     "movupd %1, 81(%0)\n\t"
                     "movntdq %1, 112(%0)\n\t"
                     "movntps %1, 96(%0)\n\t"
                     "movntpd %1, 128(%0)" ::"r"(p),
                     "x"(v)
                     : "memory");
}

__attribute__((noinline)) static void parts(unsigned char *p, __m128i v) {
    __asm__ volatile("movd %1, (%0)\n\t"
                     "movq %1, 5(%0)\n\t"
                     "movss %1, 14(%0)\n\t"
                     "movsd %1, 19(%0)\n\t"
                     "movhps %1, 29(%0)\n\t"
                     "movlps %1, 38(%0)\n\t"
                     "movhpd %1, 47(%0)\n\t"
                     "movlpd %1, 56(%0)\n\t"
                     "pextrb $3, %1, 65(%0)\n\t"
                     "pextrw $5, %1, 67(%0)\n\t"
                     "pextrd $2, %1, 70(%0)\n\t"
                     "pextrq $1, %1, 75(%0)\n\t"
                     "extractps $1, %1, 84(%0)\n\t"
                     "movq %1, %%rax\n\t"
                     "movnti %%eax, 90(%0)\n\t"
                     "movnti %%rax, 99(%0)\n\t"
                     "movbe %%eax, 110(%0)\n\t"
                     "movdq2q %1, %%mm1\n\t"
                     "movd %%mm1, 115(%0)\n\t"
                     "movq %%mm1, 120(%0)\n\t"
                     "movntq %%mm1, 129(%0)\n\t"
                     "emms" ::"r"(p),
                     "x"(v)
                     : "rax", "mm1", "memory");
}

__attribute__((noinline)) static void masked(unsigned char *p, __m128i v, __m128i mask) {
    __asm__ volatile("mov %0, %%rdi\n\t"
                     "maskmovdqu %2, %1\n\t"
                     "add $40, %%rdi\n\t"
                     "movdq2q %1, %%mm0\n\t"
                     "movdq2q %2, %%mm2\n\t"
                     "maskmovq %%mm2, %%mm0\n\t"
                     "emms" ::"r"(p),
                     "x"(v), "x"(mask)
                     : "rdi", "mm0", "mm2", "memory");
}

int main(void) {
    __m128i v = _mm_set_epi32(0x01020304, 0x15161718, 0x292a2b2c, 0x3d3e3f40);
    whole(place, v);
    parts(place, _mm_slli_epi32(v, 1));
    masked(place + 20, _mm_set1_epi8(-2), _mm_set_epi32(-1, 0x00800080, 0, -1));
    masked(place + 99, _mm_set1_epi8(-3), _mm_set_epi32(0, 0x40404040, 0x7f, 0));
    masked(place + 27, _mm_set1_epi8(-4), _mm_set_epi32((int)0x80000000, 0, 0x00800000, 0x8000));
    __m128 f = _mm_set_ps(1, 2, 3, 4);
    for (int i = 0; i < 3; i++) {
        _mm_storeu_ps(floats + 1, f);
        _mm_store_ss(floats + 1, _mm_add_ps(f, f));
        _mm_storeh_pi((__m64 *)floats, f);
        f = _mm_mul_ps(f, f);
    }
    for (int i = 0; i < 64; i++)
        place[i] = (unsigned char)(place[i] + i);
    printf("%d %g\n", place[30], floats[1]);
    return 0;
}

// Later instructions that write memory: bytes and words compressed, scatters by 64-bit indices, and
// the processor's state compacted.
// flags: -mavx512f -mavx512vl -mavx512bw -mavx512dq -mavx512vbmi2
// requires: avx512f avx512vl avx512bw avx512dq avx512_vbmi2 xsavec
// watch: place = place:256
// watch: place[65..126] = place+65:62
// watch: spread = spread:256
// watch: saved[160..191] = saved+160:32
// watch: saved[512..535] = saved+512:24
// variants: -O2; -O0; -O2 -fno-pie -no-pie; clang -O2
#include <immintrin.h>
#include <stdio.h>

_Alignas(64) unsigned char place[256], saved[4096];
long spread[32];

__attribute__((noinline)) static void compress(unsigned char *p, __m512i v, unsigned long mask) {
    __asm__ volatile("kmovq %2, %%k3\n\t"
                     "vpcompressb %1, (%0)%{%%k3%}\n\t"
                     "vpcompressw %1, 70(%0)%{%%k3%}\n\t"
                     "vpcompressq %t1, 140(%0)%{%%k3%}\n\t"
                     "vpcompressb %x1, 180(%0)%{%%k3%}" ::"r"(p),
                     "v"(v), "r"(mask)
                     : "k3", "memory");
}

__attribute__((noinline)) static void scatter(long *p, __m512i v, __m512i index, unsigned mask) {
    __asm__ volatile("kmovd %3, %%k1\n\t"
                     "vpscatterqq %1, (%0,%2,8)%{%%k1%}\n\t"
                     "kmovd %3, %%k1\n\t"
                     "vpscatterqd %t1, 3(%0,%2,4)%{%%k1%}\n\t"
                     "kmovd %3, %%k1\n\t"
                     "vscatterqpd %x1, 40(%0,%x2,8)%{%%k1%}" ::"r"(p),
                     "v"(v), "v"(index), "r"(mask)
                     : "k1", "memory");
}

__attribute__((noinline)) static void save(unsigned long n) {
    __asm__ volatile("movq %0, %%xmm0\n\t"
                     "pcmpeqd %%xmm1, %%xmm1\n\t"
                     "movl $2, %%eax\n\t"
                     "xorl %%edx, %%edx\n\t"
                     "xsavec saved(%%rip)\n\t"
                     "paddd %%xmm0, %%xmm1\n\t"
                     "xsaveopt saved(%%rip)" ::"r"(n)
                     : "rax", "rdx", "xmm0", "xmm1", "memory");
}

int main(void) {
    __m512i v = _mm512_set_epi64(0x0102030405060708, 0x1112131415161718, 0x2122232425262728,
                                 0x3132333435363738, 0x4142434445464748, 0x5152535455565758,
                                 0x6162636465666768, 0x7172737475767778);
    __m512i index = _mm512_set_epi64(0, 3, 13, 3, 20, 25, 1, 13);
    compress(place, v, 0xf0f0123456789abd);
    compress(place + 3, v, 0);
    compress(place + 9, v, 0x8000000000000001);
    scatter(spread, v, index, 0xff);
    scatter(spread, _mm512_slli_epi64(v, 1), index, 0x5a);
    scatter(spread + 2, v, index, 0);
    save(77);
    save(78);
    printf("%d %ld\n", place[66], spread[3]);
    return 0;
}

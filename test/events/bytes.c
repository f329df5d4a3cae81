// Operands of every width: strings, x87, vectors, gathers (all elements, whatever the mask).
// variants: -O0; -O2; -O3 -march=x86-64-v2; clang -O2
// every: 9
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static uint8_t bytes[256];
static uint16_t words[64];
static int32_t numbers[64];
static float floats[64];
static double doubles[64];

__attribute__((noinline)) static void strings(void) {
    void *to = bytes, *from = bytes + 64;
    uint64_t count = 9;
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(count) : : "memory");
    __asm__ volatile("movsq; movsl; movsw; movsb" : "+D"(to), "+S"(from) : : "memory");
    count = 3;
    __asm__ volatile("rep stosq" : "+D"(to), "+c"(count) : "a"(0x1122334455667788) : "memory");
    from = bytes, to = bytes + 64, count = 5;
    __asm__ volatile("repe cmpsb" : "+D"(to), "+S"(from), "+c"(count) : : "memory", "cc");
    __asm__ volatile("lodsl" : "+S"(from) : : "rax", "memory");
}

__attribute__((noinline)) static void x87(void) {
    static long double extended;
    static int16_t control;
    __asm__ volatile("flds %0; fmull %1; fstpt %2" : : "m"(floats[1]), "m"(doubles[1]), "m"(extended)
                     : "memory");
    __asm__ volatile("fnstcw %0; fldcw %0; fildll %1; fistps %2"
                     : : "m"(control), "m"(doubles[2]), "m"(words[2]) : "memory");
}

__attribute__((noinline)) static void vectors(void) {
    __asm__ volatile("movups %0, %%xmm0; addps %1, %%xmm0; movups %%xmm0, %0; movss %0, %%xmm1;"
                     "addsd %2, %%xmm1; movlps %%xmm1, %0; cvtps2pd %0, %%xmm0; movhpd %%xmm0, %0;"
                     "movd %%xmm0, %0; movq %0, %%xmm0; pinsrw $1, %0, %%xmm0"
                     : : "m"(floats), "m"(*(float(*)[4])__builtin_assume_aligned(doubles, 16)),
                         "m"(doubles) : "xmm0", "xmm1", "memory");
    if (__builtin_cpu_supports("avx2"))
        __asm__ volatile("vpxor %%xmm1, %%xmm1, %%xmm1; vpcmpeqd %%ymm2, %%ymm2, %%ymm2;"
                         "vpgatherdd %%ymm2, (%0,%%ymm1,4), %%ymm3; vpxor %%xmm2, %%xmm2, %%xmm2;"
                         "vpgatherdq %%ymm2, (%0,%%xmm1,8), %%ymm3; vmovdqu %%ymm3, (%0);"
                         "vpmaskmovd (%0), %%ymm2, %%ymm3; vzeroupper"
                         : : "r"(numbers) : "xmm1", "xmm2", "xmm3", "memory");
    numbers[1]++; /* -O0 would put a nop here, which looks like padding */
}

__attribute__((noinline)) static int integers(int n) {
    int sum = 0;
    for (int i = 0; i < n; i++) {
        words[i] += (uint16_t)bytes[i];
        numbers[i] += words[i] - (int8_t)bytes[i + 1];
        doubles[i] += numbers[i] * floats[i];
        sum += numbers[i] > 5;
    }
    __asm__ volatile("lock addq $3, %0; btl $3, %1; xchgw %w2, %3; sete %4; prefetcht0 %0; nopw %0"
                     : "+m"(*(uint64_t *)numbers), "+m"(numbers[4]), "+r"(sum), "+m"(words[5]),
                       "+m"(bytes[7]) : : "cc");
    return sum;
}

__attribute__((noinline)) static uint64_t bit_fields(void) {
    uint64_t number = 3, wide;
    if (!__builtin_cpu_supports("bmi2") || !__builtin_cpu_supports("bmi"))
        return 0;
    __asm__ volatile("shrx %0, %2, %1; sarx %k0, %2, %k1; rorx $3, %2, %1; bextr %k0, %2, %k1;"
                     "andn %2, %0, %1; blsr %2, %k1; bzhi %0, %2, %1; pdep %2, %0, %1;"
                     "pext %2, %k0, %k1; mulx %2, %1, %0"
                     : "+r"(number), "=&r"(wide) : "m"(doubles), "d"(2) : "cc");
    return wide;
}

int main(void) {
    for (int i = 0; i < 64; i++) {
        bytes[i] = (uint8_t)(i * 7);
        floats[i] = (float)i;
    }
    int sum = 0;
    for (int i = 0; i < 3; i++) {
        strings();
        x87();
        vectors();
        sum += integers(20 + i);
        sum += bit_fields() == 1;
    }
    printf("%d %d\n", sum, numbers[3]);
    return 0;
}

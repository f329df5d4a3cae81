// No register is free, flags live over the stores, and the red zone holds what is read afterwards.
// watch: table = table:512
// watch: table[17] = table+136:8
// watch: flagged = flagged:16
// watch: sums = sums:64
// variants: -O2; -O0; -O2 -fno-pie -no-pie; clang -O2; -O3 -fomit-frame-pointer; -O2 -mno-red-zone; -O2 -fno-omit-frame-pointer
#include <stdint.h>
#include <stdio.h>

_Alignas(64) uint64_t table[64];
uint32_t flagged[4];
uint64_t sums[8];

// All fifteen registers hold what is needed; flags live from the first addition to the last.
__attribute__((noinline)) static void full(uint64_t *p, uint64_t seed) {
    __asm__ volatile("pushq %%rbp\n\t"
                     "movq %0, %%rdi\n\t"
                     "movq %1, %%rax\n\t"
                     "leaq 1(%%rax), %%rbx\n\t"
                     "leaq 2(%%rax), %%rcx\n\t"
                     "leaq 3(%%rax), %%rdx\n\t"
                     "leaq 4(%%rax), %%rsi\n\t"
                     "leaq 5(%%rax), %%rbp\n\t"
                     "leaq 6(%%rax), %%r8\n\t"
                     "leaq 7(%%rax), %%r9\n\t"
                     "leaq 8(%%rax), %%r10\n\t"
                     "leaq 9(%%rax), %%r11\n\t"
                     "leaq 10(%%rax), %%r12\n\t"
                     "leaq 11(%%rax), %%r13\n\t"
                     "leaq 12(%%rax), %%r14\n\t"
                     "movq $16, %%r15\n\t"
                     "addq %%rbx, %%rax\n\t"
                     "movq %%rax, (%%rdi)\n\t"
                     "adcq %%rcx, %%rdx\n\t"
                     "movq %%rdx, 8(%%rdi,%%r15)\n\t"
                     "adcq %%rsi, %%rbp\n\t"
                     "movq %%rbp, 16(%%rdi,%%r15,2)\n\t"
                     "seto 56(%%rdi)\n\t"
                     "setc 57(%%rdi)\n\t"
                     "movb %%ah, 58(%%rdi)\n\t"
                     "adcq %%r8, 64(%%rdi)\n\t"
                     "movq %%r9, 72(%%rdi)\n\t"
                     "sbbq %%r10, 80(%%rdi)\n\t"
                     "movl %%r11d, 88(%%rdi)\n\t"
                     "movw %%r12w, 93(%%rdi)\n\t"
                     "movb %%r13b, 96(%%rdi)\n\t"
                     "adcq %%r14, 104(%%rdi)\n\t"
                     "adcq %%rax, %%rbx\n\t"
                     "movq %%rbx, 112(%%rdi)\n\t"
                     "movq %%rcx, 120(%%rdi)\n\t"
                     "movq %%rsi, 128(%%rdi)\n\t"
                     "movq %%r15, 136(%%rdi)\n\t"
                     "popq %%rbp" ::"D"(p),
                     "a"(seed)
                     : "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "r12", "r13", "r14",
                       "r15", "memory", "cc");
}

// Each flag by itself, in front of a store and behind it.
__attribute__((noinline)) static unsigned flags(uint32_t *p, unsigned x) {
    unsigned result = 0;
    __asm__ volatile("cmpl $5, %1\n\t"
                     "movl %1, (%2)\n\t"
                     "jae 1f\n\t"
                     "addl $1, %0\n"
                     "1:\ttestl %1, %1\n\t"
                     "movl $7, 4(%2)\n\t"
                     "jp 2f\n\t"
                     "addl $2, %0\n"
                     "2:\tsubl $0x7fffffff, %1\n\t"
                     "movl %1, 8(%2)\n\t"
                     "jo 3f\n\t"
                     "addl $4, %0\n"
                     "3:\tbtl $3, %1\n\t"
                     "movl %0, 12(%2)\n\t"
                     "rcll $1, %0\n\t"
                     "movl %0, 12(%2)\n\t"
                     "sbbl %1, %1\n\t"
                     "movl %1, 12(%2)"
                     : "+&r"(result), "+&r"(x)
                     : "r"(p)
                     : "memory", "cc");
    return result;
}

// A leaf whose variables lie below the stack pointer.
__attribute__((noinline)) static uint64_t leaf(uint64_t *p, uint64_t a, uint64_t b) {
    volatile uint64_t below[14];
    for (int i = 0; i < 14; i++)
        below[i] = a + (uint64_t)i;
    for (int i = 0; i < 14; i++) {
        p[i % 8] += below[i] * b;
        below[13 - i] ^= p[i % 8];
    }
    uint64_t sum = 0;
    for (int i = 0; i < 14; i++)
        sum = sum * 3 + below[i];
    p[0] = sum;
    return sum;
}

// More values live than there are registers.
__attribute__((noinline)) static void pressure(uint64_t *p, const uint64_t *q) {
    uint64_t a = q[0], b = q[1], c = q[2], d = q[3], e = q[4], f = q[5], g = q[6], h = q[7];
    uint64_t i = q[8], j = q[9], k = q[10], l = q[11], m = q[12], n = q[13], o = q[14];
    for (int turn = 0; turn < 6; turn++) {
        p[turn + 20] = a ^ b;
        a += b * c, b -= c ^ d, c += d, d ^= e + f, e *= f | 1, f -= g, g += h * i;
        p[turn + 30] = g + o;
        h ^= i, i += j - k, j *= k | 3, k ^= l, l += m, m -= n * o, n ^= o, o += a;
    }
    p[40] = a + b + c + d + e + f + g + h + i + j + k + l + m + n + o;
}

int main(void) {
    unsigned seen = 0;
    for (uint64_t i = 1; i < 6; i++) {
        full(table, i * 0x3fffffffffffffff);
        seen = seen * 5 + flags(flagged, (unsigned)i * 0x30000001);
        seen += (unsigned)leaf(sums, i, i * i);
        pressure(table, table);
    }
    printf("%u %llx\n", seen, (unsigned long long)sums[0]);
    return 0;
}

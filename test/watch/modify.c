// Instructions that read, modify and write, with flags that live from one to the next.
// watch: q = q:64
// watch: bits = bits:96
// watch: bits[40..44] = bits+40:5
// watch: flags[1] = flags+1:1
// watch: flags[4..19] = flags+4:16
// variants: -O2; -O0; -O2 -fno-pie -no-pie; clang -O2; -O2 -static-pie
#include <stdint.h>
#include <stdio.h>

_Alignas(64) uint64_t q[8] = {1, 2, 3, 4, 5, 6, 7, 8};
_Alignas(64) unsigned char bits[96];
unsigned char flags[20];

__attribute__((noinline)) static void arithmetic(uint64_t *p, uint64_t x) {
    __asm__ volatile("addq %1, (%0)\n\t"
                     "adcl $5, 8(%0)\n\t"
                     "sbbw $-7, 18(%0)\n\t"
                     "adcb %b1, 25(%0)\n\t"
                     "subq $1, 32(%0)\n\t"
                     "sbbq $0, 40(%0)\n\t"
                     "orl %k1, 48(%0)\n\t"
                     "andb $0xf0, 48(%0)\n\t"
                     "xorq %1, 56(%0)\n\t"
                     "notq 56(%0)\n\t"
                     "negl 8(%0)\n\t"
                     "adcq $0, 16(%0)\n\t"
                     "incb (%0)\n\t"
                     "decw 2(%0)\n\t"
                     "stc\n\t"
                     "incq 24(%0)\n\t"
                     "adcq $0, 24(%0)\n\t"
                     "clc\n\t"
                     "decl 24(%0)\n\t"
                     "sbbl $0, 24(%0)" ::"r"(p),
                     "q"(x)
                     : "memory", "cc");
}

__attribute__((noinline)) static void shifts(uint64_t *p, uint64_t x) {
    __asm__ volatile("shll $3, (%0)\n\t"
                     "rclq $1, 8(%0)\n\t"
                     "rcrl $1, 16(%0)\n\t"
                     "movl $5, %%ecx\n\t"
                     "sarq %%cl, 24(%0)\n\t"
                     "rolw %%cl, 32(%0)\n\t"
                     "rorb $4, 40(%0)\n\t"
                     "shrq 48(%0)\n\t"
                     "shldq $7, %1, 48(%0)\n\t"
                     "shrdl %%cl, %k1, 56(%0)\n\t"
                     "xorl %%ecx, %%ecx\n\t"
                     "shll %%cl, (%0)" ::"r"(p),
                     "r"(x)
                     : "rcx", "memory", "cc");
}

// A bit's number in a register reaches far out of the operand, on both sides.
__attribute__((noinline)) static void bit_strings(unsigned char *p) {
    static const int64_t numbers[] = {0, 5, 31, 32, 100, 255, -1, -64, -129, 7, 340, 351};
    for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++)
        __asm__ volatile("btsq %1, (%0)\n\t"
                         "btcl %k2, (%0)\n\t"
                         "btsw %w2, 1(%0)\n\t"
                         "lock btrq %1, (%0)\n\t"
                         "btcq %1, (%0)" ::"r"(p + 16),
                         "r"(numbers[i]), "r"((uint64_t)(numbers[i] / 2))
                         : "memory", "cc");
    __asm__ volatile("btsl $7, (%0)\n\tbtrl $33, 4(%0)\n\tbtcw $3, 9(%0)\n\tbtsq $63, (%0)" ::"r"(p)
                     : "memory", "cc");
}

#define SET(condition, at) "set" condition " " #at "(%0)\n\t"
__attribute__((noinline)) static void conditions(unsigned char *p, int64_t x, int64_t y) {
    __asm__ volatile("cmpq %2, %1\n\t" // no flag may change between
                     SET("e", 0) SET("ne", 1) SET("l", 2) SET("ge", 3) SET("b", 4) SET("ae", 5)
                     SET("s", 6) SET("ns", 7) SET("o", 8) SET("no", 9) SET("p", 10) SET("np", 11)
                     SET("be", 12) SET("a", 13) SET("le", 14) SET("g", 15)
                     "lahf\n\t"
                     "movb %%ah, 16(%0)\n\t"
                     "movl $0x01020304, 16(%0)\n\t"
                     "jo 1f\n\t"
                     "cmovgq %1, %2\n\t"
                     "1:movb %b2, 19(%0)" ::"r"(p),
                     "r"(x), "q"(y)
                     : "rax", "memory", "cc");
}

int main(void) {
    for (uint64_t i = 1; i < 6; i++) {
        arithmetic(q, i * 0xfedcba9876543210);
        shifts(q, i * 0x123456789);
    }
    bit_strings(bits);
    bit_strings(bits + 8);
    conditions(flags, 1, 2);
    conditions(flags, 2, 1);
    conditions(flags, INT64_MIN, 1);
    conditions(flags, -1, 1);
    conditions(flags, 7, 7);
    printf("%llx %d\n", (unsigned long long)q[3], flags[3]);
    return 0;
}

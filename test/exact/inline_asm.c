// Inline assembly: jumps inside it, asm goto, calls, loop and jrcxz with short reach, string
// instructions, r11 used and clobbered, flags kept over it, several statements on a line.
// variants: -O0; -O1; -O2; -O3; clang -O0; clang -O2
#include <stdio.h>

__attribute__((noinline)) static long count_bits(unsigned long value) {
    long bits = 0;
    __asm__("1:\n\t"
            "test %1, %1\n\t"
            "jz 2f\n\t"
            "lea -1(%1), %%rdx; and %%rdx, %1; inc %0\n\t"
            "jmp 1b\n"
            "2:"
            : "+r"(bits), "+r"(value)
            :
            : "rdx", "cc");
    return bits;
}

__attribute__((noinline)) static int is_small(int value) {
    __asm__ goto("cmpl $10, %0\n\tjl %l1\n\tcmpl $20, %0\n\tjg %l2" : : "r"(value) : "cc" : small, big);
    return 5;
small:
    return 1;
big:
    return value > 40 ? 7 : 9;
}

__attribute__((noinline)) static long loops(long count) {
    long sum = 0;
    __asm__("jrcxz 2f\n"
            "1: add %%rcx, %0\n\t"
            "loop 1b\n"
            "2:"
            : "+r"(sum), "+c"(count)
            :
            : "cc");
    return sum;
}

__attribute__((noinline)) static void fill(char *to, char byte, unsigned long count) {
    __asm__ volatile("rep stosb" : "+D"(to), "+c"(count) : "a"(byte) : "memory");
}

__attribute__((noinline)) static long uses_r11(long value) {
    long result;
    __asm__("mov %1, %%r11\n\tadd $3, %%r11\n\tmov %%r11, %0" : "=r"(result) : "r"(value) : "r11");
    if (result > 10)
        result -= 4;
    return result;
}

__attribute__((noinline)) static long carries(unsigned long a, unsigned long b) {
    unsigned long high = 0;
    for (int i = 0; i < 3; i++)
        __asm__("add %2, %0\n\tadc $0, %1" : "+r"(a), "+r"(high) : "r"(b) : "cc");
    return (long)high;
}

__attribute__((noinline)) static int flag_out(long value) {
    int negative;
    __asm__("test %1, %1" : "=@ccs"(negative) : "r"(value));
    return negative ? 100 : 200;
}

__attribute__((noinline)) static long kernel_call(void) {
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(39L) : "rcx", "r11", "memory");
    return result > 0;
}

int main(void) {
    char text[40] = {0};
    int sum = 0;
    fill(text, 'x', 30);
    for (int i = 0; i < 50; i += 7)
        sum += is_small(i) + (int)uses_r11(i) + flag_out(20 - i);
    printf("%ld %ld %ld %ld %s %d %ld %ld\n", count_bits(0xf0f0), count_bits(0), loops(6), loops(0),
           text, sum, carries(~0UL, 5), kernel_call());
    return 0;
}

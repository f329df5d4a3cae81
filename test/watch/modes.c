// Plain stores of every size, by every addressing mode: at a region's begin and end, over its edges
// and beside it.
// watch: place = place:256
// watch: place[3..9] = place+3:7
// watch: place[62..65] = place+62:4
// watch: words.w2 = words+2:2
// watch: words.w8 = words+16:8
// watch: last = last:1
// variants: -O2; -O0; -O2 -fno-pie -no-pie; clang -O2 -fPIE; -O2 -static; -O2 -ffunction-sections -fuse-ld=gold; -O2 -fuse-ld=lld
#include <asm/prctl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

_Alignas(64) unsigned char place[256];
struct {
    uint8_t w1;
    uint16_t w2;
    uint32_t w4;
    uint64_t w8a, w8;
} words;
unsigned char before, last, after;
unsigned char far[1024];

// A store of VALUE by OPERAND, with BASE and INDEX in the registers that it names.
#define STORE(operand, base, base_value, index, index_value)                                       \
    __asm__ volatile("mov %0, %%" base "\n\tmov %1, %%" index "\n\t" operand                       \
                     :                                                                             \
                     : "r"((uint64_t)(base_value)), "r"((uint64_t)(index_value))                   \
                     : base, index, "rax", "memory")

__attribute__((noinline)) static void bases(void) {
    uint64_t p = (uint64_t)place;
    STORE("movb $1, (%%rbx)", "rbx", p, "rcx", 0);
    STORE("movw $0x0203, 2(%%rdi)", "rdi", p, "rcx", 0);
    STORE("movl $0x04050607, 300(%%rsi)", "rsi", p - 296, "rcx", 0);
    STORE("movq $-9, (%%rcx)", "rcx", p + 8, "rdx", 0);
    STORE("movq $-8, -5(%%r8)", "r8", p + 8, "r9", 0);
    STORE("movb $7, (%%r12)", "r12", p + 20, "r9", 0);
    STORE("movb $8, (%%r13)", "r13", p + 21, "r9", 0);
    STORE("movl $9, (%%r14,%%r15)", "r14", p + 20, "r15", 3);
    STORE("movl $10, 8(%%r13,%%r12,2)", "r13", p + 20, "r12", 3);
    STORE("movl $11, (%%rdx,%%rdi,4)", "rdx", p + 60, "rdi", -1);
    STORE("movq $12, -64(%%r9,%%r10,8)", "r9", p, "r10", 16);
    STORE("movb %%dil, (%%rdx)", "rdx", p + 65, "rdi", 13);
    STORE("movb %%r11b, 1(%%rdx)", "rdx", p + 65, "r11", 14);
    STORE("movb %%bh, 2(%%rdx)", "rdx", p + 65, "rbx", 0x0f00);
    STORE("movb %%ch, (%%rdx,%%rcx)", "rdx", p - 0x1000, "rcx", 0x1080);
    STORE("movw %%si, (%%rdx)", "rdx", p + 63, "rsi", 0x1617);
    STORE("movl %%esi, (%%rdx)", "rdx", p + 61, "rsi", 0x18191a1b);
    STORE("movq %%rsi, (%%rdx)", "rdx", p + 58, "rsi", 0x1c1d1e1f20212223);
    STORE("movq %%rdx, (%%rdx)\n\tmovq $0, (%%rdx)", "rdx", far, "rsi", 0);
    STORE("movl %%esi, (%%rdx,%%rsi)", "rdx", p, "rsi", 100);
    STORE("movw %%cs, (%%rdx,%%rsi)", "rdx", p, "rsi", 210);
}

// Addresses that stand in the instruction, or in segment registers.
__attribute__((noinline)) static void absolute(void) {
    __asm__ volatile("movb $1, 70+place(%%rip)\n\t"
                     "movw $2, 72+place(%%rip)\n\t"
                     "movl $3, place+76(%%rip)\n\t"
                     "movq $4, place+80(%%rip)\n\t"
                     "movl %0, place+90(%%rip)" ::"r"(5)
                     : "memory");
#ifndef __PIC__
    __asm__ volatile("movl $6, place+100\n\t"
                     "movb $7, place+104(,%0,4)\n\t"
                     "movb $8, place(%0,%0)\n\t"
                     "mov $0x0a0b0c0d, %%eax\n\t"
                     "movabs %%al, place+120\n\t"
                     "movabs %%ax, place+122\n\t"
                     "movabs %%eax, place+124\n\t"
                     "movabs %%rax, place+128\n\t"
                     "lea place+140, %%edi\n\t"
                     "movl $9, (%%edi)\n\t"
                     "addr32 movl $10, place+144" ::"r"(1ul)
                     : "rax", "rdi", "memory");
#endif
    uint64_t base;
    __asm__ volatile("movq %%fs:0, %0" : "=r"(base));
    __asm__ volatile("movl $11, %%fs:(%0)\n\t"
                     "movb $12, %%fs:5(%0,%1,2)" ::"r"((uint64_t)place + 148 - base), "r"(1ul)
                     : "memory");
    syscall(SYS_arch_prctl, ARCH_SET_GS, place + 160);
    __asm__ volatile("movl $13, %%gs:4\n\tmovq $14, %%gs:(%0)\n\taddq $1, %%gs:16" ::"r"(8ul)
                     : "memory");
}

// Beside a region, and over its edges.
__attribute__((noinline)) static void edges(volatile unsigned char *p, uint64_t value) {
    for (int i = 0; i < 12; i++) {
        *(volatile uint64_t *)(p + i) = value;
        *(volatile uint32_t *)(p + i) = (uint32_t)value + 1;
        *(volatile uint16_t *)(p + i) = (uint16_t)(value + 2);
        p[i] = (unsigned char)(value + 3);
        value = value * 0x9e3779b97f4a7c15 + 1;
    }
}

int main(void) {
    bases();
    absolute();
    edges(place, 0x123456789abcdef);
    edges(place + 56, 0x3456789abcdef01);
    edges(place + 250 - 12, 0x56789abcdef0123);
    words.w1 = 1;
    words.w2 = 0x203;
    words.w4 = 4;
    words.w8a = 5;
    words.w8 = 0x0607;
    volatile unsigned char *v = &last;
    for (int i = 0; i < 3; i++)
        before = after = *v = (unsigned char)(before + 3);
    *v = *v;
    memset(far, 1, sizeof far);
    printf("%d %d\n", place[3], last);
    return 0;
}

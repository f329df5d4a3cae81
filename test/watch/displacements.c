// Displacements that are expressions: in parentheses, in front of registers and of %rip, in both syntaxes,
// where registers and flags are free and where they live.
// watch: place = place:160
// watch: place[48..55] = place+48:8
// watch: space[65536..65663] = space+65536:128
// variants: -O2; -O0; -O2 -fno-pie -no-pie; clang -O2; -O2 -fPIE; -O2 -static
#include <stdint.h>
#include <stdio.h>

_Alignas(64) unsigned char place[160];
_Alignas(64) unsigned char space[66560];

/* By a stack pointer that is in what is watched, where flags live and are kept below it. */
__attribute__((noinline)) static void by_stack(uint64_t value) {
    __asm__ volatile("mov %%rsp, %%rbx\n\t"
                     "mov $3, %%ecx\n\t"
                     "lea 65536+space(%%rip), %%rsp\n\t"
                     "stc\n\t"
                     "mov %%rax, (8+8)(%%rsp)\n\t"
                     "mov %%rax, -(8*2)+4+36(%%rsp)\n\t"
                     "mov %%rax, ((4*8))(%%rsp)\n\t"
                     "mov %%eax, 4|1(%%rsp)\n\t"
                     "mov %%eax, (40) ( %%rsp )\n\t"
                     "mov %%ecx, 8*(1+2)(%%rsp,%%rcx,8)\n\t"
                     "adc $0, %%rax\n\t"
                     "mov %%rax, 0x10+(0x28)(%%rsp)\n\t"
                     "bts %%rcx, (64)(%%rsp)\n\t"
                     "push $77\n\t"
                     "pop (80)(%%rsp)\n\t"
                     "push (80)(%%rsp)\n\t"
                     "pop (88)(%%rsp)\n\t"
                     "mov %%rbx, %%rsp"
                     : "+a"(value)
                     :
                     : "rbx", "rcx", "cc", "memory");
}

__attribute__((noinline)) static void by_others(uint64_t value, unsigned char *to) {
    __asm__ volatile("mov %0, (8+8)(%1)\n\t"
                     "mov %0, -(8*2)+40(%1)\n\t"
                     "movl $7, ((2*8))(%1)\n\t"
                     "mov %0, (8)+(32)(%1)\n\t"
                     "mov %0, (48)(%1)\n\t"
                     "mov %b0, 8*(1+2)(,%1,1)\n\t"
                     "mov %0, 8*(1+2)(%1,%%rcx,8)\n\t"
                     "lock; addq $1, 8 * ( 1 + 6 ) ( %1 )\n\t"
                     "lock incl (8)*(2+(3))(%1)\n\t"
                     "mov %0, (place+(80))(%%rip)\n\t"
                     "mov %0, place+(8*11)(%%rip)\n\t"
                     "mov %0, (96)+place(%%rip)\n\t"
                     "movq $5, (104+place)(%%rip)" ::"r"(value),
                     "r"(to), "c"(2L)
                     : "cc", "memory");
}

/* The same in Intel's syntax, where operands have other forms. */
__attribute__((noinline)) static void in_intel(uint64_t value, unsigned char *to) {
    __asm__ volatile(".intel_syntax noprefix\n\t"
                     "sub rsp, 256\n\t"
                     "mov [rsp+(8+8)], rax\n\t"
                     "mov (8*2)[rsp], rax\n\t"
                     "mov QWORD PTR (8*2)[rsp], rax\n\t"
                     "mov QWORD PTR [(8*2)+rsp], rax\n\t"
                     "mov DWORD PTR (8+8)+8[rsp], eax\n\t"
                     "mov DWORD PTR [rsp+8*(1+2)+rcx*8], eax\n\t"
                     "mov rdx, [rsp+(8+8)]\n\t"
                     "add rsp, 256\n\t"
                     "mov [rdi+(100+8)], rdx\n\t"
                     "mov (120)[rdi], rdx\n\t"
                     "mov QWORD PTR [rdi+8*(2*8)], rax\n\t"
                     ".att_syntax prefix"
                     : "+a"(value)
                     : "D"(to), "c"(2L)
                     : "rdx", "cc", "memory");
}

int main(void) {
    for (uint64_t i = 1; i < 5; i++) {
        by_others(i * 0x0101010101010101, place);
        in_intel(i * 0x1101010101010101, place);
        by_stack(i);
        place[155] = (unsigned char)i;
    }
    for (unsigned i = 0; i < sizeof place; i++)
        printf("%d ", place[i]);
    printf("\n");
    return 0;
}

// A watched stack: what push, call and enter store there.  Below the red zone a stack's contents are
// anybody's, so what was there is compared only near to the begin.
// watch: room[2112..2127] = room+16896:128
// address: high[2048..3071] = high+16384:8192
// address: frames[2248] = frames+17984:8
// address: frames[2249] = frames+17992:8
// watch: popped = popped:24
// variants: -O2; -O0; -O2 -fno-pie -no-pie; clang -O2; -Os
#include <stdint.h>
#include <stdio.h>

_Alignas(64) uint64_t room[2304]; // what runs on it needs room below
_Alignas(64) uint64_t frames[2304];
_Alignas(64) uint64_t high[3072];
uint64_t popped[3];

// Pushes of all kinds.
__attribute__((noinline)) static void pushes(uint64_t value) {
    __asm__ volatile("movq %%rsp, %%rbx\n\t"
                     "leaq 17024+room(%%rip), %%rsp\n\t"
                     "pushq %0\n\t"
                     "pushq $77\n\t"
                     "pushq $-2\n\t"
                     "pushw $513\n\t"
                     "pushw %w0\n\t"
                     "pushw %w0\n\t"
                     "pushw $3\n\t"
                     "pushq popped(%%rip)\n\t"
                     "pushq (%%rsp)\n\t"
                     "pushq 8(%%rsp)\n\t"
                     "incq (%%rsp)\n\t"
                     "popq popped(%%rip)\n\t"
                     "popq 8+popped(%%rip)\n\t"
                     "popw 16+popped(%%rip)\n\t"
                     "pushq %0\n\t"
                     "popq -16(%%rsp)\n\t" // the address is that behind the pop
                     "movq %0, -8(%%rsp)\n\t"
                     "movq %0, -100(%%rsp)\n\t"
                     "pushq %%fs\n\t"
                     "addq $16, %%rsp\n\t"
                     "xorl %%eax, %%eax\n\t"
                     "pushq %%rax\n\t"
                     "sete (%%rsp)\n\t"
                     "movq %%rbx, %%rsp" ::"r"(value)
                     : "rax", "rbx", "memory", "cc");
}

// Return addresses and frame pointers.
__attribute__((noinline)) static void calls(uint64_t value) {
    uint64_t to = value;
    __asm__ volatile("movq %%rsp, %%rbx\n\t"
                     "movq %%rbp, %%r12\n\t"
                     "leaq 18000+frames(%%rip), %%rsp\n\t"
                     "pushq $1\n\t"
                     "call 1f\n\t"
                     "call 1f\n\t"
                     "leaq 1f(%%rip), %%r13\n\t"
                     "call *%%r13\n\t"
                     "movq %%r13, -24(%%rsp)\n\t"
                     "call *-24(%%rsp)\n\t"
                     "movq $5, (%%rsp)\n\t"
                     "addq $8, %%rsp\n\t"
                     "enter $32, $0\n\t"
                     "movq %0, -8(%%rbp)\n\t"
                     "leave\n\t"
                     "jmp 2f\n"
                     "1:\tret\n"
                     "2:\tmovq %%r12, %%rbp\n\t"
                     "movq %%rbx, %%rsp"
                     : "+r"(to)
                     :
                     : "rbx", "r12", "r13", "memory", "cc");
    popped[0] = to;
}

// Deeper than the red zone; each value is another one than was there.
__attribute__((noinline)) static void saves(uint64_t a, uint64_t b) {
    __asm__ volatile("movq %%rsp, %%rbx\n\t"
                     "leaq 24576+high(%%rip), %%rsp\n\t"
                     "imulq $1007, %0, %%rax\n\t"
                     "imulq $1009, %0, %%r8\n\t"
                     "movl $100, %%ecx\n"
                     "1:\tpushq %0\n\t"
                     "pushq %1\n\t"
                     "pushq %%r8\n\t"
                     "pushq %%rax\n\t"
                     "subq $24, %%rsp\n\t"
                     "movq %%rax, %%xmm0\n\t"
                     "movups %%xmm0, 5(%%rsp)\n\t"
                     "movq %%r8, 16(%%rsp)\n\t"
                     "incq 16(%%rsp)\n\t"
                     "addq %0, %%r8\n\t"
                     "leaq (%%rax,%1), %%rax\n\t"
                     "loop 1b\n\t"
                     "movq %%rbx, %%rsp" ::"r"(a),
                     "r"(b)
                     : "rax", "rbx", "rcx", "r8", "xmm0", "memory", "cc");
}

int main(void) {
    for (uint64_t i = 0; i < 3; i++) {
        pushes(i * 0x0102030405060708 + 9);
        calls(i);
        saves(i * 2 + 1, i * 4 + 3);
    }
    printf("%llx %llx\n", (unsigned long long)popped[1], (unsigned long long)room[2127]);
    return 0;
}

// Places in code whose addresses are told: for debuggers' probes, by names, as restartable code.
// A program that looks there finds its instruction.
// variants: -O0; -O1; -O2; -O3; -O2 -fPIC; clang -O0; clang -O2; -O2 -fno-pie -no-pie
// left-alone: compared entered_and_left restartable
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <ucontext.h>
#include <unistd.h>

extern const int64_t __start_probes[], __stop_probes[];

/* systemtap's probes: a no-operation, and a note of its address. */
#define PROBE(argument)                                                                            \
    __asm__ volatile("990: nop\n\t"                                                                \
                     ".pushsection probes, \"a\"\n\t"                                              \
                     ".balign 8\n\t"                                                               \
                     ".8byte 990b - .\n\t"                                                         \
                     ".popsection"                                                                 \
                     :                                                                             \
                     : "nor"(argument))

__attribute__((noinline)) static long probed(long n) {
    long sum = 0;
    PROBE(n);
    for (long i = 0; i < n; i++) {
        PROBE(i);
        if (i % 3 == 1)
            sum += i;
        PROBE(sum);
    }
    PROBE(sum);
    return sum;
}

/* Names that the program compares with, or that lead into code. */
extern char compared_at[], compared_end[];
__attribute__((noinline)) static long compared(const long *from) {
    long value = 5;
    __asm__ volatile("compared_at: mov (%1), %0\n\tinc %0\n"
                     "compared_end:"
                     : "+r"(value)
                     : "r"(from)
                     : "cc");
    return value;
}

__attribute__((noinline)) static long entered_and_left(const long *from) {
    long value = 5;
    __asm__ volatile("1: mov (%1), %0\n"
                     "2: add 8(%1), %0\n"
                     "3:\n\t"
                     ".pushsection pairs, \"a\"\n\t"
                     ".quad 1b - ., 2b - .\n\t"
                     ".quad 2b - ., 3b - .\n\t"
                     ".popsection"
                     : "+r"(value)
                     : "r"(from)
                     : "cc");
    return value;
}

/* What is begun anew if the thread is interrupted: its length is told. */
__attribute__((noinline)) static long restartable(long *to) {
    long sum = 0;
    for (int i = 0; i < 3; i++)
        __asm__ volatile("1: mov (%1), %%rax\n\t"
                         "add $2, %%rax\n\t"
                         "mov %%rax, (%1)\n"
                         "2: inc %0\n\t"
                         ".pushsection restarts, \"a\"\n"
                         "3:\t.long 0, 0\n\t"
                         ".quad 1b - ., (2b - 1b), 4f - .\n\t"
                         ".popsection\n\t"
                         ".pushsection .text.abort, \"ax\"\n\t"
                         ".byte 0x0f, 0xb9, 0x3d\n\t"
                         ".long 0x53053053\n"
                         "4:\tjmp 1b\n\t"
                         ".popsection"
                         : "+r"(sum)
                         : "r"(to)
                         : "rax", "cc", "memory");
    return sum;
}

static void handler(int signal, siginfo_t *info, void *context) {
    ucontext_t *at = context;
    greg_t *pc = &at->uc_mcontext.gregs[REG_RIP];
    (void)info;
    if (*pc == (greg_t)(uintptr_t)compared_at) {
        *pc = (greg_t)(uintptr_t)compared_end;
        return;
    }
    _exit(signal);
}

int main(void) {
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
    long numbers[2] = {3, 4};
    sigaction(SIGSEGV, &action, NULL);
    printf("%ld %ld\n", probed(9), probed(0));
    for (const int64_t *probe = __start_probes; probe < __stop_probes; probe++)
        printf("%02x ", *(unsigned char *)((uintptr_t)probe + (uintptr_t)*probe));
    printf("\n");
    printf("%ld %ld\n", compared(numbers), compared(NULL));
    printf("%ld %ld\n", entered_and_left(numbers), restartable(numbers));
    return 0;
}

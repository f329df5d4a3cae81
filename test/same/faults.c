// Faults that are handled: a jump out of the handler, a page made readable, an illegal instruction
// stepped over, a division by zero.
// variants: -O0; -O2; clang -O2
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

static sigjmp_buf back;
static char *page;
static int fixed;

static void segv(int signal, siginfo_t *info, void *context) {
    (void)context;
    (void)signal;
    if ((char *)info->si_addr == page) {
        mprotect(page, 4096, PROT_READ | PROT_WRITE);
        fixed++;
        return;
    }
    siglongjmp(back, 1);
}

static void illegal(int signal, siginfo_t *info, void *context) {
    (void)info;
    (void)signal;
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] += 2;
}

static void divided(int signal) {
    siglongjmp(back, signal);
}

__attribute__((noinline)) static int reads(const volatile int *address) {
    return *address;
}

__attribute__((noinline)) static int divides(int a, volatile int *b) {
    return a / *b;
}

int main(void) {
    struct sigaction action = {.sa_sigaction = segv, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, NULL);
    action.sa_sigaction = illegal;
    sigaction(SIGILL, &action, NULL);
    signal(SIGFPE, divided);
    page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    volatile int jumps = 0, zero = 0;
    for (volatile int i = 0; i < 5; i++)
        if (sigsetjmp(back, 1) == 0)
            reads((int *)8);
        else
            jumps++;
    int sum = reads((int *)page);
    __asm__ volatile("ud2");
    int got = sigsetjmp(back, 1);
    if (got == 0)
        sum += divides(5, &zero);
    printf("%d %d %d %d\n", jumps, fixed, sum, got == SIGFPE);
    return 0;
}

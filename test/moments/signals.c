// Signal handlers: of signals that the program sends itself, nested, at faults in the middle of its
// own code, left by siglongjmp.
// watch: counter
// visits: 15
// variants: -O0; -O2; clang -O2 -fPIE; -O2 -fno-pie -no-pie
// no-twin
// handlers
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

volatile unsigned long counter;
static char *page;
static sigjmp_buf back;

static void handle(int number) {
    for (int i = 0; i < 3; i++)
        counter += (unsigned)number;
    if (number == SIGUSR1)
        raise(SIGUSR2);
    if (number == SIGFPE)
        siglongjmp(back, 1);
}

static void handle_fault(int number, siginfo_t *information, void *context) {
    (void)number, (void)context;
    counter++;
    mprotect((void *)((unsigned long)information->si_addr & ~4095ul), 4096, PROT_READ | PROT_WRITE);
}

__attribute__((noinline)) static unsigned fault(unsigned n) {
    unsigned sum = 0;
    for (unsigned i = 0; i < n; i++) {
        if (i % 4 == 1)
            mprotect(page, 4096, PROT_NONE);
        page[i] = (char)i; /* runs again behind the handler */
        sum += (unsigned char)page[i] * i;
    }
    return sum;
}

/* The handler goes away by a jump to the library, and comes back in front of these stores. */
__attribute__((noinline)) static void fault_behind_calls(void) {
    mprotect(page, 4096, PROT_NONE);
    page[1] = 1;
    mprotect(page, 4096, PROT_NONE);
    page[2] = 2;
}

__attribute__((noinline)) static unsigned leave(unsigned n) {
    volatile unsigned left = 0;
    for (volatile unsigned i = 0; i < n; i++) {
        if (sigsetjmp(back, 1) == 0)
            raise(SIGFPE);
        else
            left++;
    }
    return left;
}

int main(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handle;
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGUSR2, &action, NULL);
    sigaction(SIGFPE, &action, NULL);
    action.sa_sigaction = handle_fault;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &action, NULL);
    page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    unsigned sum = fault(12);
    fault_behind_calls();
    for (int i = 0; i < 4; i++)
        raise(i % 2 ? SIGUSR1 : SIGUSR2);
    sum += leave(4);
    printf("%u %lu\n", sum, counter);
    return 0;
}

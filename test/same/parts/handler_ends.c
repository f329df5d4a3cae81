// Unwinding through signal handlers that end by code of the program's own, which unwinders know by
// its bytes: out of code that a fault interrupts, and out of a system call.
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <unwind.h>

/* The kernel's own, as C libraries give it. */
struct kernel_action {
    void (*handler)(int, siginfo_t *, void *);
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
};

enum {
    RESTORER = 0x04000000
};

void restore_rt(void);
long send_signal(int process, int signal);
int main(int argc, char **argv);

static volatile int depth, found_main, handled;
static int *volatile nowhere;

static _Unwind_Reason_Code look(struct _Unwind_Context *context, void *unused) {
    (void)unused;
    depth++;
    if (_Unwind_FindEnclosingFunction((void *)_Unwind_GetIP(context)) == (void *)(uintptr_t)main)
        found_main = depth;
    return _URC_NO_REASON;
}

static void handle(int signal, siginfo_t *info, void *context) {
    (void)info;
    (void)context;
    depth = found_main = 0;
    handled++;
    _Unwind_Backtrace(look, NULL);
    printf("signal %d: main is frame %d\n", signal, found_main);
    if (signal == SIGSEGV) {
        fflush(stdout);
        _exit(handled);
    }
}

__attribute__((noinline)) static int fault(int n) {
    if (n)
        return fault(n - 1) + 1;
    return *nowhere;
}

__attribute__((noinline)) static int ask(int n) {
    if (n)
        return ask(n - 1) + 1;
    return (int)send_signal(getpid(), SIGUSR1);
}

int main(int argc, char **argv) {
    struct kernel_action action = {handle, SA_SIGINFO | SA_NODEFER | RESTORER, restore_rt, 0};
    (void)argv;
    syscall(SYS_rt_sigaction, SIGUSR1, &action, NULL, 8);
    syscall(SYS_rt_sigaction, SIGSEGV, &action, NULL, 8);
    for (int i = 0; i < 3; i++)
        printf("%d\n", ask(argc + i));
    return fault(argc + 2) == 0;
}

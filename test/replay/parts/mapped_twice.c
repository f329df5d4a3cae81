/* Executes code that it has mapped twice, as compilers at run time do: once to write it, and once
 * to execute it. Signals come in a loop there, and tell how far it has come. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

enum {
    PAGE = 4096,
    SIGNALS = 4
};

static volatile int came;

static void handle(int number, siginfo_t *info, void *context) {
    const ucontext_t *interrupted = context;
    (void)number;
    (void)info;
    printf("%llx\n", interrupted->uc_mcontext.gregs[REG_RDI]);
    came++;
}

int main(void) {
    /* 1: lea -1(%rdi), %rdi; test %rdi, %rdi; jnz 1b; ret */
    static const unsigned char loop[] = {0x48, 0x8d, 0xbf, 0xff, 0xff, 0xff, 0xff,
                                         0x48, 0x85, 0xff, 0x75, 0xf4, 0xc3};
    const struct itimerval timer = {{0, 30000}, {0, 30000}};
    const struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO};
    int file = memfd_create("code", MFD_CLOEXEC);
    if (ftruncate(file, PAGE) != 0)
        return 1;
    char *written = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    void *executed = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_SHARED, file, 0);
    if (written == MAP_FAILED || executed == MAP_FAILED)
        return 1;
    memcpy(written, loop, sizeof loop);
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
    while (came < SIGNALS)
        ((void (*)(long))executed)(300000000);
    return 7;
}

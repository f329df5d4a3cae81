/* registers.c: whether debug registers stop a program here: exit status 0.  Some virtual machines
 * take what is written to them, and nothing happens. */
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int word;

int main(void) {
    const size_t registers = offsetof(struct user, u_debugreg);
    const uintptr_t writes_of_four_bytes = 1 | 0xd << 16;
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        raise(SIGSTOP);
        word = 1;
        _exit(0);
    }
    waitpid(child, &status, 0);
    ptrace(PTRACE_POKEUSER, child, (void *)registers, (void *)&word);
    ptrace(PTRACE_POKEUSER, child, (void *)(registers + 7 * sizeof(long)),
           (void *)writes_of_four_bytes);
    ptrace(PTRACE_CONT, child, NULL, NULL);
    waitpid(child, &status, 0);
    kill(child, SIGKILL);
    return !WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP;
}

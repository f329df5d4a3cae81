/* tracer.c PROGRAM ARGS: what the plain way costs: stops the program and all that it makes in front
 * of each system call and behind it, and does nothing there. */
#include <signal.h>
#include <stdint.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int count, char **arguments) {
    const long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
                         PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
    int status, first_status = 1;
    pid_t first = count > 1 ? fork() : -1, stopped;
    if (first == 0) {
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        execvp(arguments[1], arguments + 1);
        _exit(127);
    }
    if (first < 0 || waitpid(first, &status, 0) != first)
        return 127;
    ptrace(PTRACE_SETOPTIONS, first, NULL, (void *)options);
    ptrace(PTRACE_SYSCALL, first, NULL, NULL);
    while ((stopped = waitpid(-1, &status, __WALL)) > 0) {
        if (!WIFSTOPPED(status)) {
            if (stopped == first)
                first_status = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
            continue;
        }
        int number = WSTOPSIG(status);
        int is_event = number == (SIGTRAP | 0x80) || status >> 16 || number == SIGSTOP;
        ptrace(PTRACE_SYSCALL, stopped, NULL, (void *)(intptr_t)(is_event ? 0 : number));
    }
    return first_status;
}

/* kills.c: preloaded into a recorder, or a player. It kills the process that a request of ptrace is
 * about, at a moment that does not depend on chance: KILLS_AT=N     in front of the N-th request
 *   KILLS_AT=left  where the recorder has made the thread leave a call, in front of the request
 * with which that goes on. The thread ends before that is made. A line on standard error tells of
 * it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <time.h>
#include <unistd.h>

typedef long ptrace_function(enum __ptrace_request, ...);

static long at, behind, requests;
static pid_t leaves; /* the thread that the last request has made leave a call */

static long number_of(const char *variable) {
    const char *text = getenv(variable);
    return text ? atol(text) : 0;
}

__attribute__((constructor)) static void begin(void) {
    at = number_of("KILLS_AT");
    behind = number_of("KILLS_BEHIND");
    unsetenv("LD_PRELOAD"); /* the recorded program goes without */
}

static void kill_process(pid_t thread) {
    const struct timespec pause = {0, 3000000};
    if (kill(thread, SIGKILL) != 0)
        return;
    nanosleep(&pause, NULL); /* it comes to the stop in front of its end */
    fprintf(stderr, "killed\n");
    at = behind = 0;
}

long ptrace(enum __ptrace_request request, ...) {
    ptrace_function *real = (ptrace_function *)dlsym(RTLD_NEXT, "ptrace");
    va_list list;
    va_start(list, request);
    pid_t thread = va_arg(list, pid_t);
    void *address = va_arg(list, void *), *data = va_arg(list, void *);
    va_end(list);
    requests++;
    if (requests == at ||
        (behind && requests > behind && request == PTRACE_SYSCALL && thread == leaves))
        kill_process(thread);
    leaves = request == PTRACE_POKEUSER && data == (void *)-1 &&
                     (size_t)address == offsetof(struct user_regs_struct, orig_rax)
                 ? thread
                 : 0;
    return real(request, thread, address, data);
}

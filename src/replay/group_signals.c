/* group_signals.c: see group_signals.h.
 *
 * The kernel delivers such a signal before this process waits again, so its sender, which may have
 * ended by the same signal, still exists. All else ends this process as it would without a handler.
 *
 * Not perfect: SIGKILL for the group ends the recorder, too. */
#include "replay/group_signals.h"

#include "replay/record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    STATUS_MOST = 1024 /* bytes of /proc/PID/status up to the number of the tracer */
};

static volatile sig_atomic_t tracer_of_senders;

/* In a handler. */
static bool is_sent_by_traced(const siginfo_t *info) {
    char path[64], status[STATUS_MOST];
    static const char key[] = "\nTracerPid:";
    if (info->si_code > 0) /* by the kernel */
        return false;
    snprintf(path, sizeof path, "/proc/%d/status", (int)info->si_pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t count = fd < 0 ? 0 : read(fd, status, sizeof status - 1);
    if (fd >= 0)
        close(fd);
    status[count > 0 ? count : 0] = '\0';
    const char *found = strstr(status, key);
    return found && strtol(found + sizeof key - 1, NULL, 10) == tracer_of_senders;
}

static void take_signal(int number, siginfo_t *info, void *context) {
    int cause = errno;
    (void)context;
    if (!is_sent_by_traced(info)) { /* delivered when this returns */
        signal(number, SIG_DFL);
        raise(number);
    }
    errno = cause;
}

/* Those that end a process, and that nothing else of the recorder's takes. */
static bool is_taken(int number) {
    static const int others[] = {SIGKILL, SIGSTOP, SIGCONT,  SIGTSTP, SIGTTIN, SIGTTOU,
                                 SIGCHLD, SIGURG,  SIGWINCH, SIGALRM, SIGXFSZ, KEEP_SIGNAL};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (number == others[i])
            return false;
    return true;
}

void begin_group_signals(pid_t tracer, struct sigaction old[NSIG]) {
    const struct sigaction action = {.sa_sigaction = take_signal,
                                     .sa_flags = SA_SIGINFO | SA_RESTART};
    tracer_of_senders = tracer;
    for (int number = 1; number < NSIG; number++)
        if (is_taken(number) && sigaction(number, NULL, &old[number]) == 0 &&
            old[number].sa_handler == SIG_DFL)
            sigaction(number, &action, NULL);
}

void end_group_signals(const struct sigaction old[NSIG]) {
    for (int number = 1; number < NSIG; number++)
        if (is_taken(number))
            sigaction(number, &old[number], NULL);
}

/* child.c: a user's program as a child of quipu; see child.h. */
#include "cmd/child.h"

#include "util/diag.h"
#include "util/process.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

pid_t child_begin(char *const *argv, const sigset_t *mask) {
    keep_child_statuses();
    fflush(NULL);
    pid_t child = fork();
    if (child < 0)
        die("cannot run '%s': %s", argv[0], strerror(errno));
    if (child > 0)
        return child;
    sigprocmask(SIG_SETMASK, mask, NULL);
    _exit(execute_program(argv));
}

int child_end(int status, const sigset_t *mask) {
    if (WIFEXITED(status))
        return WEXITSTATUS(status);
    prctl(PR_SET_DUMPABLE, 0); /* the core file is the program's */
    signal(WTERMSIG(status), SIG_DFL);
    sigprocmask(SIG_SETMASK, mask, NULL);
    raise(WTERMSIG(status));
    return 128 + WTERMSIG(status); /* it is blocked */
}

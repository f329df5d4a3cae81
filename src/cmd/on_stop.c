/* on_stop.c: what is run on a program that stands at a moment; see on_stop.h. */
#include "cmd/on_stop.h"

#include "util/diag.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static void set_number(const char *name, pid_t number) {
    char text[32];
    snprintf(text, sizeof text, "%d", (int)number);
    if (setenv(name, text, 1))
        die("cannot set %s: %s", name, strerror(errno));
}

int run_on_stop(const char *command, pid_t process, pid_t thread) {
    set_number("QUIPU_PID", process);
    set_number("QUIPU_THREAD", thread);
    fflush(stdout);
    int status = system(command);
    if (status == -1) {
        error("cannot run '%s': %s", command, strerror(errno));
        return 1;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* on_stop.c: what is run on a program that stands at a moment; see on_stop.h. */
#include "cmd/on_stop.h"

#include "util/diag.h"

#include <dirent.h>
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

/* As gdb numbers the threads of a process that it attaches to: the first, then as the kernel lists
 * them. */
static int number_of_thread(pid_t process, pid_t thread) {
    char path[32];
    int number = 1, found = 1;
    snprintf(path, sizeof path, "/proc/%d/task", (int)process);
    DIR *tasks = opendir(path);
    for (struct dirent *entry; tasks && (entry = readdir(tasks));) {
        pid_t task = (pid_t)strtol(entry->d_name, NULL, 10);
        number += task && task != process;
        if (task == thread && task != process)
            found = number;
    }
    if (tasks)
        closedir(tasks);
    return found;
}

int run_gdb_on_stop(pid_t process, pid_t thread) {
    int number = number_of_thread(process, thread);
    char command[256];
    snprintf(command, sizeof command,
             "exec gdb -q -p $QUIPU_PID -ex "
             "'pipe handle SIGSTOP nostop noprint nopass | cat >/dev/null'");
    if (number > 1) {
        size_t length = strlen(command);
        snprintf(command + length, sizeof command - length, " -ex 'thread %d'", number);
    }
    return run_on_stop(command, process, thread);
}

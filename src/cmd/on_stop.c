/* on_stop.c: runs a command on a program that is stopped at a moment; see on_stop.h.
 *
 * Not perfect: a gdb without Python, from version 16 on, may choose another thread. Without Python,
 * a program that should end with gdb runs on when gdb ends. */
#include "cmd/on_stop.h"

#include "util/diag.h"
#include "util/path.h"
#include "util/process.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void set_number(const char *name, pid_t number) {
    char text[32];
    snprintf(text, sizeof text, "%d", (int)number);
    if (setenv(name, text, 1))
        die("cannot set %s: %s", name, strerror(errno));
}

static void tell_command(pid_t process, pid_t thread) {
    set_number("QUIPU_PID", process);
    set_number("QUIPU_THREAD", thread);
    fflush(stdout);
}

int run_on_stop(const char *command, pid_t process, pid_t thread) {
    tell_command(process, thread);
    int status = system(command);
    if (status == -1) {
        error("cannot run '%s': %s", command, strerror(errno));
        return 1;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

pid_t start_on_stop(const char *command, pid_t process, pid_t thread) {
    tell_command(process, thread);
    pid_t started = fork();
    if (started == 0) {
        signal(SIGINT, SIG_DFL);
        signal(SIGQUIT, SIG_DFL);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    if (started < 0)
        error("cannot run '%s': %s", command, strerror(errno));
    return started < 0 ? 0 : started;
}

/* Returns the number that gdb, up to version 15, gives to THREAD when it attaches to PROCESS: the
 * first thread is 1, and the others follow in the order of the kernel's list. */
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

bool can_run_gdb(void) {
    struct arena arena = {0};
    bool can = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && find_program(&arena, "gdb");
    arena_release(&arena);
    return can;
}

const char *gdb_on_stop(struct arena *arena, pid_t process, pid_t thread, bool ends) {
    static const char kill[] =
        " -ex 'python hasattr(gdb.events, \"gdb_exiting\") and "
        "gdb.events.gdb_exiting.connect(lambda event: gdb.selected_inferior().pid and "
        "[gdb.execute(line) for line in (\"set confirm off\", \"kill\")])'";
    /* gdb cannot attach to a thread that has ended, but any other thread leads to the process */
    bool ended = has_ended(process, process);
    const char *choose = "";
    if (!ended && thread != process)
        choose =
            arena_print(arena,
                        " -ex 'pipe thread %d | cat >/dev/null'"
                        " -ex 'python [gdb.execute(\"thread %%d\" %% thread.num) for thread in "
                        "gdb.selected_inferior().threads() if thread.ptid[1] == %d]'",
                        number_of_thread(process, thread), (int)thread);
    return arena_print(arena,
                       "exec gdb -q -p $%s -ex "
                       "'pipe handle SIGSTOP nostop noprint nopass | cat >/dev/null'%s%s",
                       ended ? "QUIPU_THREAD" : "QUIPU_PID", choose, ends ? kill : "");
}

/* pager.c: shows long output on a terminal page by page; see pager.h.
 *
 * The pager is the command in QUIPU_PAGER or PAGER, for the shell, or else 'less', if there is one.
 * If the command is empty or 'cat', or is not installed, there is none. Unless the user has set
 * LESS, 'less' shows colours, ends at once if the text fits on the screen, and leaves it there
 * (FRX).
 *
 * While the pager runs, the keys for SIGINT and SIGQUIT are the pager's, and not the end of quipu:
 * otherwise the shell and the pager would read from one terminal. A user who leaves the pager early
 * ends quipu by SIGPIPE, which is silent. */
#include "report/pager.h"

#include "report/style.h"
#include "util/diag.h"
#include "util/path.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct {
    pid_t process; /* 0: no pager runs */
    int terminal;  /* standard output before */
} pager;

static bool is_installed(const char *name) {
    struct arena arena = {0};
    bool found = find_program(&arena, name) != NULL;
    arena_release(&arena);
    return found;
}

/* Whether the shell will find COMMAND, as far as can be said without a shell. */
static bool is_found(const char *command) {
    struct arena arena = {0};
    size_t length = strcspn(command, " \t");
    const char *name = arena_copy(&arena, command, length);
    bool found = strpbrk(name, "=$`\\\"'(){}<>|&;*?[~") || is_installed(name);
    arena_release(&arena);
    return found;
}

/* Returns the command, or NULL if there is none. */
static const char *find_pager(void) {
    const char *command = getenv("QUIPU_PAGER");
    if (!command)
        command = getenv("PAGER");
    if (!command)
        command = is_installed("less") ? "less" : "";
    return *command && strcmp(command, "cat") != 0 ? command : NULL;
}

static _Noreturn void run_pager(const char *command, const int ends[2]) {
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    close(ends[1]);
    close(pager.terminal);
    setenv("LESS", "FRX", 0);
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    error("cannot start the shell for the pager '%s': %s", command, strerror(errno));
    _exit(127);
}

void start_pager(FILE *out) {
    const char *command = find_pager();
    int ends[2];
    if (out != stdout || !is_smart_terminal(out) || !command)
        return;
    if (!is_found(command)) {
        warn("the pager '%s' is not installed; QUIPU_PAGER or PAGER names it", command);
        return;
    }
    pager.terminal = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (pager.terminal < 0 || pipe2(ends, O_CLOEXEC) != 0)
        die("cannot start the pager '%s': %s; --no-pager does without", command, strerror(errno));
    fflush(out);
    pager.process = fork();
    if (pager.process < 0)
        die("cannot start the pager '%s': %s; --no-pager does without", command, strerror(errno));
    if (pager.process == 0)
        run_pager(command, ends);
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    close(ends[1]);
    signal(SIGINT, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
    atexit(end_pager); /* for an error */
}

void end_pager(void) {
    if (!pager.process)
        return;
    fflush(stdout);
    dup2(pager.terminal, STDOUT_FILENO);
    close(pager.terminal);
    while (waitpid(pager.process, NULL, 0) < 0 && errno == EINTR)
        ;
    pager.process = 0;
}

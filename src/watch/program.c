/* program.c: the program that is watched; see program.h. */
#include "watch/program.h"

#include "symbols/backtrace.h"
#include "tracee/held_thread.h"
#include "tracee/tracee.h"
#include "util/buffer.h"
#include "util/diag.h"
#include "util/process.h"
#include "util/refusal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- signals ---- */

static volatile pid_t gets_signals; /* 0: no process */

static void hand_on(int signal) {
    if (gets_signals)
        kill(gets_signals, signal);
}

static void do_nothing(int signal) {
    (void)signal; /* its arrival ends the sleep */
}

static void take_signals(pid_t process) {
    static const int ignored[] = {SIGINT,
                                  SIGQUIT}; /* the terminal sends them to the program, too */
    static const int handed_on[] = {SIGTERM, SIGHUP};
    struct sigaction end_sleep = {.sa_handler = do_nothing}, hand = {.sa_handler = hand_on};
    gets_signals = process;
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        signal(ignored[i], SIG_IGN);
    for (size_t i = 0; i < sizeof handed_on / sizeof *handed_on; i++)
        sigaction(handed_on[i], &hand, NULL);
    sigaction(SIGCHLD, &end_sleep, NULL);
}

static volatile sig_atomic_t leaving;

static void leave(int signal) {
    (void)signal;
    leaving = 1;
}

bool is_leaving(void) {
    return leaving;
}

/* ---- start ---- */

/* The child executes FILE. If that fails, it writes the cause to TELL. */
static _Noreturn void become(const char *file, char **argv, bool stops, int tell) {
    bool traced = stops && ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0;
    int failure = -errno; /* negative: ptrace has failed */
    if (!stops || traced) {
        restore_child_statuses();
        execv(file, argv);
        failure = errno;
    }
    if (write(tell, &failure, sizeof failure) < 0)
        _exit(126);
    _exit(127);
}

/* The program is about to start. Runs it to the address STOP. Returns NULL or an error message. */
static const char *stop_at(struct arena *arena, const struct program *program, uint64_t stop) {
    int status;
    bool stopped = wait_for_thread(program->process, 0, &status) == program->process;
    if (stopped && WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS)
        return deadly_refusal(arena, "ptrace");
    if (!stopped || !WIFSTOPPED(status))
        return "it cannot be traced, and so no pointer of its be followed";
    if (run_process_to(program->process, stop + program_bias(program->process, program->entry)))
        return NULL;
    kill(program->process, SIGKILL);
    return "it does not come to its start";
}

const char *start_program(struct arena *arena, struct program *program, const char *file,
                          char **argv, const char *path, uint64_t stop) {
    int tell[2], failure = 0;
    if (setenv("QUIPU_WATCH", path, 1) != 0 || pipe2(tell, O_CLOEXEC) != 0)
        return strerror(errno);
    program->process = fork();
    if (program->process == 0)
        become(file, argv, stop, tell[1]);
    close(tell[1]);
    if (program->process > 0)
        take_signals(program->process);
    ssize_t got = program->process > 0 ? read(tell[0], &failure, sizeof failure) : 0;
    close(tell[0]);
    if (program->process < 0)
        return strerror(errno);
    if (got == sizeof failure)
        return failure > 0 ? strerror(failure) : refusal(arena, "ptrace", 0, -failure);
    return stop ? stop_at(arena, program, stop) : NULL;
}

const char *take_program(struct program *program, pid_t process) {
    static const int leaves[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = leave}, old;
    program->process = process;
    program->is_other = true;
    program->handle = (int)syscall(SYS_pidfd_open, process, 0);
    if (program->handle < 0)
        return strerror(errno);
    for (size_t i = 0; i < sizeof leaves / sizeof *leaves; i++)
        if (sigaction(leaves[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(leaves[i], &action, NULL);
    return NULL;
}

void release_program(const struct program *program) {
    ptrace(PTRACE_DETACH, program->process, NULL, NULL);
}

/* The handle becomes readable when all threads have ended. */
static bool look_at_other(struct program *program) {
    struct pollfd look = {.fd = program->handle, .events = POLLIN};
    if (!program->ended && poll(&look, 1, 0) > 0) {
        program->ended = true;
        close(program->handle);
    }
    return program->ended;
}

bool look_at_program(struct program *program) {
    if (program->is_other)
        return look_at_other(program);
    if (!program->ended && waitpid(program->process, &program->status, WNOHANG) == program->process)
        program->ended = WIFEXITED(program->status) || WIFSIGNALED(program->status);
    if (program->ended)
        gets_signals = 0;
    return program->ended;
}

/* Stops THREAD, which waits for an answer. Returns false, with errno set, if it has ended or cannot
 * be stopped. The end of the program's first thread is reported once, and may be reported here. */
static bool stop_thread(struct program *program, pid_t thread, int *status) {
    enum held_state state = hold_thread(thread) ? stop_held_thread(thread, status) : HELD_RUNS;
    if (state == HELD_ENDED && thread == program->process && !program->is_other) {
        program->ended = true;
        program->status = *status;
    }
    return state == HELD_STOPPED;
}

/* Warns once that no thread can be stopped. */
static void tell_refusal(struct program *program, pid_t thread, int cause) {
    struct arena arena = {0};
    if (cause == EPERM && !program->is_refused)
        warn("there are no backtraces: %s", refusal(&arena, "ptrace", thread, cause));
    program->is_refused |= cause == EPERM;
    arena_release(&arena);
}

void add_calls(struct program *program, struct unwinder *unwinder, struct buffer *text,
               pid_t thread, uint64_t address) {
    int status;
    errno = 0;
    if (!unwinder || !stop_thread(program, thread, &status)) {
        const char *cause = errno == ESRCH ? "its thread has ended"
                            : errno        ? strerror(errno)
                                           : "its memory cannot be read";
        buffer_print(text, "        no backtrace: %s\n", cause);
        tell_refusal(program, thread, errno);
        return;
    }
    add_backtrace(unwinder, text, "        ", thread, address);
    release_held_thread(thread, status);
}

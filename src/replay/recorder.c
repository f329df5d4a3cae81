/* recorder.c: runs a program and records it; see recorder.h.
 *
 * What comes from outside, and how it is recorded:
 *   - system calls, with the memory that they write: record_call.c, record_mapping.c
 *   - signals: record_signal.c
 *   - the time stamp counter: each read faults: record_counter.c
 *   - the kernel's own code (vDSO): hidden, so the clock is a system call
 *   - arguments, environment, auxiliary vector: the stack in front of the first instruction
 *   - addresses: randomization is off
 *   - the number of the processor, and what cpuid tells of it: the process is bound to one
 *
 * Not perfect: rdrand and rdseed give other values in a replay. */
#include "replay/recorder.h"

#include "replay/record.h"
#include "replay/start.h"
#include "util/diag.h"
#include "util/refusal.h"
#include "x86/kernel.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    HELD_SECONDS = 2 /* a signal is held back no longer */
};

/* ---- stops ---- */

static void take_stop(struct recorder *recorder, int status) {
    struct thread_stop stop = read_stop(recorder->process, status, &recorder->call);
    switch (stop.reason) {
    case REASON_CALL_ENTRY:
        if (recorder->state != RECORD_INTERRUPTED)
            recorder->call = stop.call;
        if (stop.has_other_numbers)
            stop_recording(recorder, "it makes a 32-bit system call", true);
        else
            record_call_entry(recorder);
        break;
    case REASON_CALL_EXIT:
        recorder->call.result = stop.call.result;
        record_call_exit(recorder);
        break;
    case REASON_FAULT:
    case REASON_BREAKPOINT:
    case REASON_STEP:
        record_fault(recorder, &stop);
        break;
    case REASON_SIGNAL:
        record_signal(recorder, &stop);
        break;
    default:
        break;
    }
}

/* The next stop of the process does not come as long as it makes no call. */
static void ignore_alarm(int number) {
    (void)number;
}

static void set_alarm(int seconds) {
    const struct itimerval timer = {{0}, {seconds, 0}};
    setitimer(ITIMER_REAL, &timer, NULL);
}

/* The process computes, and a signal waits for its next call. */
static void give_up_holding(struct recorder *recorder) {
    int status;
    syscall(SYS_tgkill, recorder->process, recorder->process, SIGSTOP);
    if (waitpid(recorder->process, &status, __WALL) != recorder->process || !WIFSTOPPED(status)) {
        recorder->status = status;
        recorder->tracee.ended = true;
        return;
    }
    if (WSTOPSIG(status) != SIGSTOP) { /* it has come to a call just now; the SIGSTOP is harmless */
        take_stop(recorder, status);
        return;
    }
    stop_recording(recorder,
                   arena_print(recorder->arena,
                               "signal %d came, and then it made no system call for %d seconds, "
                               "at which the signal could be recorded",
                               recorder->held_signal, HELD_SECONDS),
                   false);
}

/* Continues the process up to its next stop. */
static void go_on(struct recorder *recorder) {
    int status = 0, signal = recorder->signal;
    bool waits = recorder->held;
    recorder->signal = 0;
    if (ptrace(PTRACE_SYSCALL, recorder->process, NULL, (void *)(intptr_t)signal) != 0 &&
        errno != ESRCH)
        return;
    if (waits)
        set_alarm(HELD_SECONDS);
    pid_t stopped;
    while ((stopped = waitpid(recorder->process, &status, __WALL)) < 0 && errno == EINTR && !waits)
        continue;
    if (waits)
        set_alarm(0);
    if (stopped < 0 && waits) {
        give_up_holding(recorder);
    } else if (stopped != recorder->process || !WIFSTOPPED(status)) {
        recorder->status = status;
        recorder->tracee.ended = true;
    } else {
        take_stop(recorder, status);
    }
}

static void record_end(struct recorder *recorder) {
    struct buffer *event = recording_event(&recorder->writer);
    put_number(event, (uint32_t)recorder->status, sizeof(uint32_t));
    recording_add(&recorder->writer, QUIPU_EVENT_END, RECORDED_THREAD);
}

static void run(struct recorder *recorder) {
    while (recorder->state != RECORD_LEFT && !recorder->tracee.ended) {
        go_on(recorder);
        if (recorder->writer.failure && recorder->state == RECORD_RUNS && !recorder->tracee.ended)
            stop_recording(recorder,
                           arena_print(recorder->arena, "cannot write it: %s",
                                       strerror(recorder->writer.failure)),
                           false);
    }
    if (recorder->state != RECORD_LEFT)
        record_end(recorder);
    while (!recorder->tracee.ended)
        recorder->tracee.ended =
            waitpid(recorder->process, &recorder->status, __WALL) == recorder->process &&
            !WIFSTOPPED(recorder->status);
}

/* ---- the begin ---- */

/* Returns NULL, or why the program cannot be recorded. It is stopped in front of its first
 * instruction. */
static const char *check_program(struct recorder *recorder, const struct start *start) {
    struct stat status;
    if (has_random_addresses(&recorder->tracee))
        return "address randomization cannot be turned off here, and the addresses of a recorded "
               "run must be those of its replay; in a container, allow 'personality' in the seccomp "
               "profile";
    if (!runs_64_bits(&start->registers))
        return arena_print(recorder->arena, "'%s' is a 32-bit program", start->path);
    if (stat(start->path, &status) == 0 && status.st_mode & (S_ISUID | S_ISGID))
        return arena_print(
            recorder->arena,
            "'%s' changes its user or group when it begins (setuid), which a program "
            "under control must not",
            start->path);
    return NULL;
}

static const char *prepare(struct recorder *recorder, struct start *start) {
    const uint64_t arguments[6] = {PR_SET_TSC, PR_TSC_SIGSEGV};
    pid_t process = recorder->process = recorder->tracee.process;
    long options = (long)PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD;
    if (ptrace(PTRACE_SETOPTIONS, process, NULL, (void *)options) != 0 ||
        !hide_kernel_code(process))
        return refusal(recorder->arena, "ptrace", 0, errno);
    bind_affinity(&recorder->affinity, process);
    bool bound = recorder->affinity.bound && !recorder->affinity.given_up;
    uint32_t processor = bound ? (uint32_t)sched_getcpu() : UINT32_MAX;
    if (!describe_start(recorder->arena, process, processor, start))
        return arena_print(recorder->arena, "its memory cannot be read: %s", strerror(errno));
    inject_first_call(process, SYS_prctl, arguments); /* not all machines have it */
    return check_program(recorder, start);
}

/* Signals of the terminal are the program's. Returns the earlier actions in OLD. */
static const int ignored[] = {SIGINT, SIGQUIT};

enum {
    IGNORED = sizeof ignored / sizeof *ignored
};

static void begin_signals(struct sigaction old[IGNORED + 1]) {
    const struct sigaction ignore = {.sa_handler = SIG_IGN}, alarm = {.sa_handler = ignore_alarm};
    for (int i = 0; i < IGNORED; i++)
        sigaction(ignored[i], &ignore, &old[i]);
    sigaction(SIGALRM, &alarm, &old[IGNORED]);
}

static void end_signals(const struct sigaction old[IGNORED + 1]) {
    for (int i = 0; i < IGNORED; i++)
        sigaction(ignored[i], &old[i], NULL);
    sigaction(SIGALRM, &old[IGNORED], NULL);
}

const char *record_program(struct arena *arena, char **argv, const char *path, int *status) {
    struct recorder recorder = {.arena = arena, .path = path, .opened = ""};
    struct sigaction old[IGNORED + 1];
    struct start start;
    recorder.streams = streams_begin();
    const char *wrong = start_tracee(&recorder.tracee, argv);
    if (wrong)
        return wrong;
    wrong = prepare(&recorder, &start);
    if (!wrong && !recording_begin(&recorder.writer, path))
        wrong = arena_print(arena, "cannot write '%s': %s", path, strerror(errno));
    if (wrong) {
        kill_tracee(&recorder.tracee);
        return wrong;
    }
    replace_first_counter_reads(&recorder);
    write_start(&recorder.writer, RECORDED_THREAD, &start);
    begin_signals(old);
    run(&recorder);
    recording_end(&recorder.writer);
    if (recorder.writer.failure && recorder.state != RECORD_LEFT)
        error("cannot write '%s': %s", path, strerror(recorder.writer.failure));
    end_signals(old);
    restore_our_affinity(&recorder.affinity);
    arena_release(&recorder.effects.arena);
    arena_release(&recorder.tracee.arena);
    *status = recorder.status;
    return NULL;
}

/* record_signal.c: the signals of a recorded process; see record.h.
 *
 * A replay must deliver a signal at the same place. It knows these: behind an event, in front of a
 * call, and at an instruction that causes the signal itself. So a signal that comes anywhere else
 * is held back until the next call. The kernel keeps it: all signals are blocked, and a signal that
 * is blocked when it is delivered is put back. Signals that end the process are not held back.
 *
 * In a replay no signal is delivered. It gets the frame and the registers of the handler.
 *
 * Not perfect: signals that stop the process do not stop it. Where the program blocks or ignores
 * SIGSEGV and reads the time stamp counter, the kernel resets its action for SIGSEGV. */
#include "replay/record.h"

#include "util/refusal.h"
#include "x86/kernel.h"

#include <errno.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

/* Signals that an instruction causes; they cannot be held back. */
static const uint64_t caused = 1u << (SIGSEGV - 1) | 1u << (SIGBUS - 1) | 1u << (SIGFPE - 1) |
                               1u << (SIGILL - 1) | 1u << (SIGTRAP - 1) | 1u << (SIGSYS - 1);

enum disposition {
    DISPOSITION_CAUGHT,
    DISPOSITION_NONE, /* it is ignored, or stops or continues the process */
    DISPOSITION_ENDS  /* it ends the process */
};

static bool is_in(uint64_t set, int signal) {
    return set >> (signal - 1) & 1;
}

/* Whether SIGNAL is in the set that KEY of /proc/PID/status has. */
static bool is_in_status(const struct recorder *recorder, const char *key, int signal) {
    return is_in((uint64_t)read_status(recorder->process, key, 16), signal);
}

static enum disposition disposition_of(const struct recorder *recorder, int signal) {
    static const uint64_t harmless = 1ull << (SIGCHLD - 1) | 1ull << (SIGURG - 1) |
                                     1ull << (SIGWINCH - 1) | 1ull << (SIGCONT - 1) |
                                     1ull << (SIGSTOP - 1) | 1ull << (SIGTSTP - 1) |
                                     1ull << (SIGTTIN - 1) | 1ull << (SIGTTOU - 1);
    if (is_in_status(recorder, "SigCgt:", signal))
        return DISPOSITION_CAUGHT;
    return is_in(harmless, signal) || is_in_status(recorder, "SigIgn:", signal) ? DISPOSITION_NONE
                                                                                : DISPOSITION_ENDS;
}

/* ---- the event ---- */

static uint32_t hash_at(const struct recorder *recorder, enum quipu_signal_place place) {
    struct user_regs_struct registers;
    if (place == QUIPU_SIGNAL_BEFORE)
        return recorder->call_hash;
    if (place == QUIPU_SIGNAL_BEHIND || !get_general_registers(recorder->process, &registers))
        return 0;
    return hash_registers(&registers, false);
}

static void put_head(struct recorder *recorder, int signal, enum quipu_signal_place place,
                     uint32_t hash, const siginfo_t *info, bool ends) {
    struct buffer *event = recording_event(&recorder->writer);
    _Static_assert(sizeof *info == QUIPU_SIGINFO_SIZE, "the kernel's siginfo has 128 bytes");
    put_number(event, (uint64_t)signal, 1);
    put_number(event, place, 1);
    put_number(event, ends, 1);
    put_number(event, hash, sizeof hash);
    buffer_add(event, info, sizeof *info);
}

/* Adds the event of a handler that begins, with its frame. */
static bool record_handler(struct recorder *recorder, int signal, enum quipu_signal_place place,
                           uint32_t hash, const siginfo_t *info) {
    static struct registers registers;
    if (!get_registers(recorder->process, &registers))
        return false;
    uint64_t frame = registers.general.rsp;
    size_t size = signal_frame_size(recorder->process, &registers.general);
    uint8_t *bytes = size ? arena_alloc(&recorder->effects.arena, size) : NULL;
    if (!bytes || !read_memory(recorder->process, frame, bytes, size))
        return false;
    recording_add_memory(&recorder->writer, RECORDED_THREAD, frame, bytes, size, NULL);
    put_head(recorder, signal, place, hash, info, false);
    buffer_add(&recorder->writer.event, &registers.general, sizeof registers.general);
    buffer_uleb128(&recorder->writer.event, registers.vector_size);
    buffer_add(&recorder->writer.event, registers.vectors, registers.vector_size);
    recording_add(&recorder->writer, QUIPU_EVENT_SIGNAL, RECORDED_THREAD);
    recorder->signals++;
    return true;
}

/* ---- delivery ---- */

/* An interrupted call is complete when a handler begins. */
static void complete_call(struct recorder *recorder) {
    if (recorder->state != RECORD_INTERRUPTED)
        return;
    recorder->state = RECORD_RUNS;
    record_call_end(recorder);
}

/* Steps into the handler of SIGNAL. */
static void enter_handler(struct recorder *recorder, int signal, enum quipu_signal_place place,
                          const siginfo_t *info) {
    int status = 0;
    complete_call(recorder);
    uint32_t hash = hash_at(recorder, place);
    if (ptrace(PTRACE_SINGLESTEP, recorder->process, NULL, (void *)(intptr_t)signal) != 0 ||
        waitpid(recorder->process, &status, __WALL) != recorder->process || !WIFSTOPPED(status)) {
        recorder->status = status;
        recorder->tracee.ended = true;
        return;
    }
    if (status != STEPPED || !record_handler(recorder, signal, place, hash, info))
        stop_recording(recorder, "the frame of a signal handler cannot be read", false);
    else
        set_boundary(recorder, false);
}

/* The signal ends the process, wherever it is. */
static void record_death(struct recorder *recorder, int signal, enum quipu_signal_place place,
                         const siginfo_t *info) {
    complete_call(recorder);
    put_head(recorder, signal, place, hash_at(recorder, place), info, true);
    recording_add(&recorder->writer, QUIPU_EVENT_SIGNAL, RECORDED_THREAD);
    recorder->signals++;
    recorder->signal = signal;
}

static bool is_at_boundary(const struct recorder *recorder) {
    struct user_regs_struct now;
    return recorder->has_boundary && get_general_registers(recorder->process, &now) &&
           memcmp(&now, &recorder->boundary, sizeof now) == 0;
}

/* The kernel puts SIGNAL back, and keeps all others. */
static void hold_back(struct recorder *recorder, int signal) {
    uint64_t all = ~caused | (uint64_t)1 << (signal - 1);
    if (!recorder->held)
        ptrace(PTRACE_GETSIGMASK, recorder->process, sizeof recorder->mask, &recorder->mask);
    ptrace(PTRACE_SETSIGMASK, recorder->process, sizeof all, &all);
    recorder->held = true;
    recorder->held_signal = signal;
    recorder->signal = signal;
}

void record_signal(struct recorder *recorder, const struct thread_stop *stop) {
    siginfo_t info;
    enum disposition disposition = disposition_of(recorder, stop->signal);
    enum quipu_signal_place place =
        recorder->before_call ? QUIPU_SIGNAL_BEFORE : QUIPU_SIGNAL_BEHIND;
    if (ptrace(PTRACE_GETSIGINFO, recorder->process, NULL, &info) != 0)
        return;
    if (disposition == DISPOSITION_NONE)
        recorder->signal = stop->signal;
    else if (disposition == DISPOSITION_ENDS)
        record_death(recorder, stop->signal, QUIPU_SIGNAL_BEHIND, &info);
    else if (is_at_boundary(recorder))
        enter_handler(recorder, stop->signal, place, &info);
    else
        hold_back(recorder, stop->signal);
}

/* ---- faults ---- */

void record_fault(struct recorder *recorder, const struct thread_stop *stop) {
    siginfo_t info;
    if (record_counter(recorder, stop->signal))
        return;
    if (ptrace(PTRACE_GETSIGINFO, recorder->process, NULL, &info) != 0)
        return;
    release_held(recorder);
    if (is_in_status(recorder, "SigCgt:", stop->signal))
        enter_handler(recorder, stop->signal, QUIPU_SIGNAL_FAULT, &info);
    else
        record_death(recorder, stop->signal, QUIPU_SIGNAL_FAULT, &info);
}

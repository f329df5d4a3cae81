/* record_signal.c: the signals of a recorded thread; see record.h.
 *
 * A replay must deliver a signal at the same place. It knows these: behind an event, in front of a
 * call, and at an instruction that causes the signal itself. So a signal that comes anywhere else
 * is held back until the next call or tick. The kernel keeps it: all signals are blocked, and a
 * signal that is blocked when it is delivered is put back. Signals that end the process are not
 * held back.
 *
 * In a replay no signal is delivered. It gets the frame and the registers of the handler.
 *
 * Not perfect: where the program blocks or ignores
 * SIGSEGV and reads the time stamp counter, the kernel resets its action for SIGSEGV. */
#include "replay/record.h"

#include "util/clock.h"
#include "util/refusal.h"
#include "x86/kernel.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

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
static bool is_in_status(const struct recorded_thread *thread, const char *key, int signal) {
    return is_in((uint64_t)read_status(thread->number, key, 16), signal);
}

static enum disposition disposition_of(const struct recorded_thread *thread, int signal) {
    static const uint64_t harmless = 1ull << (SIGCHLD - 1) | 1ull << (SIGURG - 1) |
                                     1ull << (SIGWINCH - 1) | 1ull << (SIGCONT - 1) |
                                     1ull << (SIGSTOP - 1) | 1ull << (SIGTSTP - 1) |
                                     1ull << (SIGTTIN - 1) | 1ull << (SIGTTOU - 1);
    if (is_in_status(thread, "SigCgt:", signal))
        return DISPOSITION_CAUGHT;
    return is_in(harmless, signal) || is_in_status(thread, "SigIgn:", signal) ? DISPOSITION_NONE
                                                                              : DISPOSITION_ENDS;
}

/* ---- the event ---- */

static uint32_t hash_at(const struct recorded_thread *thread, enum quipu_signal_place place) {
    struct user_regs_struct registers;
    if (place == QUIPU_SIGNAL_BEFORE)
        return thread->call_hash;
    if (place == QUIPU_SIGNAL_BEHIND || !get_general_registers(thread->number, &registers))
        return 0;
    return hash_registers(&registers, false);
}

static void put_head(struct recorded_thread *thread, int signal, enum quipu_signal_place place,
                     uint32_t hash, const siginfo_t *info, bool ends) {
    struct buffer *event = recording_event(&thread->recorder->writer);
    _Static_assert(sizeof *info == QUIPU_SIGINFO_SIZE, "the kernel's siginfo has 128 bytes");
    put_number(event, (uint64_t)signal, 1);
    put_number(event, place, 1);
    put_number(event, ends, 1);
    put_number(event, hash, sizeof hash);
    buffer_add(event, info, sizeof *info);
}

/* Adds the event of a handler that begins, with its frame. */
static bool record_handler(struct recorded_thread *thread, int signal,
                           enum quipu_signal_place place, uint32_t hash, const siginfo_t *info) {
    static struct registers registers;
    if (!get_registers(thread->number, &registers))
        return false;
    uint64_t frame = registers.general.rsp;
    size_t size = signal_frame_size(thread->number, &registers.general);
    uint8_t *bytes = size ? arena_alloc(&thread->effects.arena, size) : NULL;
    if (!bytes || !read_memory(thread->number, frame, bytes, size))
        return false;
    add_recorded_memory(thread, frame, bytes, size, NULL);
    put_head(thread, signal, place, hash, info, false);
    buffer_add(&thread->recorder->writer.event, &registers.general, sizeof registers.general);
    buffer_uleb128(&thread->recorder->writer.event, registers.vector_size);
    buffer_add(&thread->recorder->writer.event, registers.vectors, registers.vector_size);
    add_recorded_event(thread, QUIPU_EVENT_SIGNAL);
    thread->recorder->signals++;
    return true;
}

/* ---- delivery ---- */

/* Whether one of the signals that wait for the thread, or with PTRACE_PEEKSIGINFO_SHARED in FLAGS
 * for its process, is not in MASK. */
static bool has_pending(const struct recorded_thread *thread, uint32_t flags, uint64_t mask) {
    enum {
        SIGNALS_MAX = 32 /* that are looked at */
    };
    siginfo_t found[SIGNALS_MAX];
    const struct __ptrace_peeksiginfo_args wanted = {.flags = flags, .nr = SIGNALS_MAX};
    long count = ptrace(PTRACE_PEEKSIGINFO, thread->number, &wanted, found);
    for (long i = 0; i < count; i++)
        if (!is_in(mask, found[i].si_signo))
            return true;
    return false;
}

void leave_boundary(struct recorded_thread *thread) {
    uint64_t mask = 0;
    if (!thread->has_boundary || thread->before_call || thread->state != RECORD_RUNS)
        return;
    ptrace(PTRACE_GETSIGMASK, thread->number, sizeof mask, &mask);
    thread->has_boundary =
        has_pending(thread, 0, mask) || has_pending(thread, PTRACE_PEEKSIGINFO_SHARED, mask);
}

/* An interrupted call is complete when a handler begins. */
static void complete_call(struct recorded_thread *thread) {
    if (thread->state != RECORD_INTERRUPTED)
        return;
    thread->state = RECORD_RUNS;
    record_call_end(thread);
}

/* The signal ends the process, wherever it is. */
static void record_death(struct recorded_thread *thread, int signal, enum quipu_signal_place place,
                         const siginfo_t *info) {
    complete_call(thread);
    if (thread->state == RECORD_LEFT)
        return;
    put_head(thread, signal, place, hash_at(thread, place), info, true);
    add_recorded_event(thread, QUIPU_EVENT_SIGNAL);
    thread->recorder->signals++;
    thread->signal = signal;
}

static void enter_handler(struct recorded_thread *thread, int signal, enum quipu_signal_place place,
                          const siginfo_t *info);

/* There is no room on the stack for the handler's frame, so the kernel delivers SIGSEGV in place of
 * the signal. A replay comes to that one at the same PLACE. */
static void enter_without_frame(struct recorded_thread *thread, enum quipu_signal_place place) {
    siginfo_t info;
    if (ptrace(PTRACE_GETSIGINFO, thread->number, NULL, &info) != 0)
        return;
    if (is_in_status(thread, "SigCgt:", SIGSEGV))
        enter_handler(thread, SIGSEGV, place, &info);
    else
        record_death(thread, SIGSEGV, place, &info);
}

/* Steps into the handler of SIGNAL. */
static void enter_handler(struct recorded_thread *thread, int signal, enum quipu_signal_place place,
                          const siginfo_t *info) {
    int status = 0;
    complete_call(thread);
    if (thread->state == RECORD_LEFT)
        return;
    inside_return(&thread->process->inside, &thread->process->arena, thread->number);
    uint32_t hash = hash_at(thread, place);
    if (ptrace(PTRACE_SINGLESTEP, thread->number, NULL, (void *)(intptr_t)signal) != 0 ||
        !await_status(thread, &status))
        return; /* it has been killed: its end comes */
    if (!WIFSTOPPED(status) || status >> 16) {
        keep_pending(thread, status);
    } else if (WSTOPSIG(status) == SIGSEGV) {
        enter_without_frame(thread, place);
    } else if (status != STEPPED || !record_handler(thread, signal, place, hash, info)) {
        stop_recording(thread, "the frame of a signal handler cannot be read", false);
    } else {
        set_boundary(thread, false);
    }
}

static bool is_at_boundary(const struct recorded_thread *thread) {
    struct user_regs_struct now;
    return thread->has_boundary && get_general_registers(thread->number, &now) &&
           memcmp(&now, &thread->boundary, sizeof now) == 0;
}

/* The kernel puts SIGNAL back, and keeps all others. */
static void hold_back(struct recorded_thread *thread, int signal) {
    uint64_t all = ~caused | (uint64_t)1 << (signal - 1);
    if (!thread->held)
        ptrace(PTRACE_GETSIGMASK, thread->number, sizeof thread->mask, &thread->mask);
    ptrace(PTRACE_SETSIGMASK, thread->number, sizeof all, &all);
    if (!thread->held) {
        thread->held_until = clock_seconds() + HELD_SECONDS;
        thread->tries = 0;
    }
    thread->held = true;
    thread->held_signal = signal;
    thread->signal = signal;
    begin_tick(thread, 1);
}

static bool stops_process(int signal) {
    return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

bool come_to_exit(struct recorded_thread *thread) {
    int status = inside_run_out(&thread->process->inside, thread->number, 0);
    if (status) {
        keep_pending(thread, status);
    } else {
        record_inside(thread);
    }
    return !status;
}

/* If the thread makes a call inside, it comes to the end of that. SIGNAL comes again behind it. */
static bool come_out(struct recorded_thread *thread, int signal) {
    struct inside *inside = &thread->process->inside;
    if (!inside_is_busy(inside, thread->number))
        return false;
    hold_back(thread, signal);
    thread->signal = 0;
    int status = inside_run_out(inside, thread->number, signal);
    if (status) {
        keep_pending(thread, status);
        return true;
    }
    record_inside(thread);
    release_held(thread);
    set_boundary(thread, false);
    return true;
}

/* Sets INFO to that of the signal with which the thread has stopped. Returns false if it is no
 * longer there, since it has been killed. */
static bool get_info(const struct recorded_thread *thread, int signal, siginfo_t *info) {
    return ptrace(PTRACE_GETSIGINFO, thread->number, NULL, info) == 0 && info->si_signo == signal &&
           info->si_code != (SIGTRAP | PTRACE_EVENT_EXIT << 8);
}

void record_signal(struct recorded_thread *thread, const struct thread_stop *stop) {
    siginfo_t info;
    if (thread->stop_asked && stop->signal == SIGSTOP) {
        thread->stop_asked = false; /* it was ours */
        return;
    }
    enum disposition disposition = disposition_of(thread, stop->signal);
    if (!get_info(thread, stop->signal, &info))
        return;
    if (stop->signal == SIGCONT)
        continue_stopped(thread->process);
    if (disposition == DISPOSITION_CAUGHT && !record_interrupted(thread) &&
        come_out(thread, stop->signal))
        return;
    if (disposition == DISPOSITION_ENDS && thread->waits_inside)
        record_interrupted(thread);
    if (stops_process(stop->signal) && !thread->waits_inside && !come_to_exit(thread)) {
        syscall(SYS_tgkill, thread->process->number, thread->number, stop->signal); /* again */
        return;
    }
    if (disposition == DISPOSITION_NONE)
        thread->signal = stop->signal;
    else if (disposition == DISPOSITION_ENDS)
        record_death(thread, stop->signal, QUIPU_SIGNAL_BEHIND, &info);
    else if (is_at_boundary(thread))
        enter_handler(thread, stop->signal,
                      thread->before_call ? QUIPU_SIGNAL_BEFORE : QUIPU_SIGNAL_BEHIND, &info);
    else
        hold_back(thread, stop->signal);
}

/* ---- faults ---- */

/* Whether the process is the first one of a PID namespace. The kernel does not end it by a fault
 * while it is traced: it would come to the fault for ever. */
static bool is_first_of_namespace(const struct recorded_thread *thread) {
    static const char key[] = "NSpid:";
    char path[64], line[256];
    bool is_first = false;
    snprintf(path, sizeof path, "/proc/%d/status", (int)thread->process->number);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, key, sizeof key - 1) == 0)
            is_first = strcmp(strrchr(line, '\t'), "\t1\n") == 0;
    if (file)
        fclose(file);
    return is_first;
}

void record_fault(struct recorded_thread *thread, const struct thread_stop *stop) {
    siginfo_t info;
    if (record_counter(thread, stop->signal))
        return;
    if (!get_info(thread, stop->signal, &info))
        return;
    release_held(thread);
    if (is_in_status(thread, "SigCgt:", stop->signal))
        enter_handler(thread, stop->signal, QUIPU_SIGNAL_FAULT, &info);
    else
        record_death(thread, stop->signal, QUIPU_SIGNAL_FAULT, &info);
    if (thread->signal && is_first_of_namespace(thread))
        kill(thread->process->number, SIGKILL);
}

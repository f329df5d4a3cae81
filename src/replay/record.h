/* record.h: the state of a recorder, which its parts share. */
#ifndef QUIPU_REPLAY_RECORD_H
#define QUIPU_REPLAY_RECORD_H

#include "replay/streams.h"
#include "replay/writer.h"
#include "tracee/affinity.h"
#include "tracee/call_effects.h"
#include "tracee/stop.h"
#include "tracee/tracee.h"
#include "x86/call_stop.h"
#include "x86/counter_read.h"

enum {
    RECORDED_THREAD = 1,
    RESTART_FIRST = 512, /* -512 to -516 are results of interrupted calls: the kernel makes the call
                          * again, or a handler runs */
    RESTART_LAST = 516
};

/* Where the process is, as far as the recording knows. */
enum record_state {
    RECORD_RUNS,        /* in the program's code */
    RECORD_IN_CALL,     /* between the two stops of a call */
    RECORD_INTERRUPTED, /* behind a call that was interrupted, and is not in the recording yet */
    RECORD_TURNED_BACK, /* in a call that is not made, as a signal comes in front of it */
    RECORD_LEFT         /* it is no longer recorded */
};

/* An instruction that read the time stamp counter, and now faults. */
struct counter_read {
    uint64_t address;
    uint8_t size, code[COUNTER_READ_MAX]; /* the instruction */
};

struct recorder {
    struct arena *arena;
    struct recording_writer writer;
    struct tracee tracee;
    struct affinity affinity;
    struct streams streams;
    struct call_effects effects;
    VECTOR(struct counter_read) counter_reads;

    pid_t process;
    enum record_state state;
    struct system_call call;
    uint32_t call_hash; /* of the registers in front of it */
    int64_t refused;    /* the call is not made, and fails with this error; 0: it is made */
    const char *opened; /* the path that the call opens, or "" */
    int signal;         /* to be delivered when it continues; 0: none */
    int status;         /* of wait, once it has ended */
    uint64_t site;      /* of an instruction that makes a call; 0: none seen yet */
    uint64_t calls, signals;
    const char *path; /* of the recording */

    /* Where the registers were when the last event was recorded. A signal that comes while they
     * are the same comes behind that event, or in front of the next call. */
    struct user_regs_struct boundary;
    bool has_boundary, before_call;

    /* Signals that came between are held back, in the kernel, up to the next call. */
    bool held;
    uint64_t mask; /* the program's own */
    int held_signal;
};

/* ---- record_call.c ---- */

/* In front of a call, and behind it. */
void record_call_entry(struct recorder *recorder);
void record_call_exit(struct recorder *recorder);

/* Adds the call, which has its result, with what it has written. */
void record_call_end(struct recorder *recorder);

/* ---- record_mapping.c ---- */

/* Returns NULL, or why the mapping call in front of which the process is cannot be recorded. */
const char *refuse_mapping(struct recorder *recorder);

/* Adds the contents of what the call has mapped. */
void record_mapping(struct recorder *recorder);

/* ---- record_signal.c ---- */

/* The process is about to get the signal of STOP. */
void record_signal(struct recorder *recorder, const struct thread_stop *stop);
void record_fault(struct recorder *recorder, const struct thread_stop *stop);

/* ---- record_counter.c ---- */

/* Replaces the instructions that read the time stamp counter in what the process has mapped of the
 * file at PATH: SIZE bytes at ADDRESS, from OFFSET in the file. */
void replace_counter_reads(struct recorder *recorder, const char *path, uint64_t address,
                           uint64_t size, uint64_t offset);

/* The same in all that a process has that begins. */
void replace_first_counter_reads(struct recorder *recorder);

/* Whether the process has got SIGNAL as it was about to read the counter. If so, gives it the
 * value. */
bool record_counter(struct recorder *recorder, int signal);

/* ---- record.c ---- */

/* The process has its registers; what comes now, comes behind the last event, or if BEFORE_CALL in
 * front of the next call. */
void set_boundary(struct recorder *recorder, bool before_call);

/* The program gets the signals that are held back when it continues. */
void release_held(struct recorder *recorder);

/* Ends the recording, with a warning that says WHY. The program goes on by itself. With AGAIN, it
 * is stopped in front of a call, which it makes then. */
void stop_recording(struct recorder *recorder, const char *why, bool again);

#endif

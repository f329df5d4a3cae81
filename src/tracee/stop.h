/* stop.h: why a thread under our control has stopped.
 *
 * This module gives the reason of a stop, with its data. Its callers continue threads: tracee.c all
 * of them, repeat.c one process or a copy of it, serial.c one thread at a time, held_thread.c one
 * thread while the others run. Where only the signal or the event matters, they look at the status
 * themselves. */
#ifndef QUIPU_TRACEE_STOP_H
#define QUIPU_TRACEE_STOP_H

#include "tracee/call_log.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum stop_reason {
    REASON_ENDED,      /* it has ended; `status` says how */
    REASON_JOB,        /* a signal has stopped the whole process, as it would without quipu */
    REASON_CALL_ENTRY, /* in front of a system call, which is `call` */
    REASON_CALL_EXIT,  /* behind a system call; its result is call.result */
    REASON_CALL,       /* in front of a system call or behind it; the kernel does not say which */
    REASON_BREAKPOINT, /* behind a breakpoint instruction, of quipu or of the program; `address` is
                          that of its byte */
    REASON_WRITE, /* behind an instruction that wrote what debug registers watch: `written`, or 0 if
                     they do not say which */
    REASON_STEP,  /* behind one instruction */
    REASON_FAULT, /* it is about to get `signal`, which its own instruction caused */
    REASON_SIGNAL, /* it is about to get `signal` */
    REASON_FORK,   /* it has made a process, `child`, which is stopped or will be */
    REASON_VFORK,  /* the same, but it shares the memory until REASON_VFORK_DONE */
    REASON_VFORK_DONE,
    REASON_CLONE,  /* it has made a thread, or a process otherwise than by fork: `child` */
    REASON_EXEC,   /* it has executed another program; `child` is the thread's former number */
    REASON_EXIT,   /* in front of the thread's end */
    REASON_KILLED, /* it has been killed since, and is no longer there; that end is still to come */
    REASON_EVENT   /* another event of the kernel */
};

enum {
    CALL_STOP = SIGTRAP | 0x80, /* signal of a stop in front of a system call or behind it */
    /* statuses from wait, without an event */
    STEPPED = SIGTRAP << 8 | 0x7f,
    STOPPED = SIGSTOP << 8 | 0x7f
};

struct thread_stop {
    enum stop_reason reason;
    pid_t thread, child;
    int status, signal;
    uint64_t address;
    unsigned written; /* bit n: the n-th watch */
    struct system_call call;
    bool has_other_numbers; /* `call` is of the 32-bit interface: its number means another call */
    bool is_filtered;       /* a filter (seccomp) has reported the call */
};

/* Sets MESSAGE to what EVENT, of the kernel, tells: a number of a thread. Returns false if THREAD
 * is no longer in that stop, since it has been killed. */
bool read_event_message(pid_t thread, int event, unsigned long *message);

/* Returns why THREAD stopped. STATUS is what wait returned for it. CALL is the system call that the
 * thread was in front of at its last stop, or NULL: then the result has no call. The bits of debug
 * registers are cleared, so each write is reported once. */
struct thread_stop read_stop(pid_t thread, int status, const struct system_call *call);

#endif

/* stop.h: why a thread under control has stopped.
 *
 * This is the one place that reads a status of wait: who lets threads go on (tracee.c all of them,
 * repeat.c one process or a copy of it, serial.c one thread at a time) gets the reason, and what
 * belongs to it. */
#ifndef QUIPU_TRACEE_STOP_H
#define QUIPU_TRACEE_STOP_H

#include "tracee/call_log.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum stop_reason {
    REASON_ENDED,      /* it is not there any more; `status` says how */
    REASON_JOB,        /* a signal has stopped the whole process, as it does without us */
    REASON_CALL_ENTRY, /* in front of a system call, which is `call` */
    REASON_CALL_EXIT,  /* behind it: call.result */
    REASON_CALL,       /* one of both, and the kernel does not tell which */
    REASON_BREAKPOINT, /* behind a breakpoint's byte, ours or its own: `address` is the byte's */
    REASON_WRITE,      /* behind an instruction that wrote what debug registers watch: `written`, 0
                          where they do not say which */
    REASON_STEP,       /* behind one instruction */
    REASON_FAULT,      /* it is about to get `signal`, for what it did */
    REASON_SIGNAL,     /* it is about to get `signal` */
    REASON_FORK,       /* it has made a process, `child`, which stands or will */
    REASON_VFORK,      /* the same, of one that has its memory, until REASON_VFORK_DONE */
    REASON_VFORK_DONE,
    REASON_CLONE, /* it has made a thread, or a process of another kind: `child` */
    REASON_EXEC,  /* it has become another program; `child` is its number before that */
    REASON_EXIT,  /* in front of its end */
    REASON_EVENT  /* another of the kernel's */
};

enum {
    CALL_STOP = SIGTRAP | 0x80, /* signal of a stop in front of a system call or behind it */
    /* statuses as of wait, of no event */
    STEPPED = SIGTRAP << 8 | 0x7f,
    STOPPED = SIGSTOP << 8 | 0x7f
};

struct thread_stop {
    enum stop_reason reason;
    pid_t thread, child;
    int status, signal;
    uint64_t address;
    unsigned written; /* bit n: the n-th of what is watched */
    struct system_call call;
};

/* What THREAD, which was waited for and had STATUS, stopped for.  CALL is the system call that it
 * was in front of when it stopped last, or NULL: then none is told.  What debug registers have seen
 * is told once. */
struct thread_stop read_stop(pid_t thread, int status, const struct system_call *call);

#endif

/* repeat.h: a run of one thread that can be repeated in part.
 *
 * The first process is the real one: it makes its system calls, and they are logged.  Copies of it
 * (checkpoint.h) run parts of that again, and get from the log what the calls gave. */
#ifndef QUIPU_TRACEE_REPEAT_H
#define QUIPU_TRACEE_REPEAT_H

#include "format/event.h"
#include "symbols/binary.h"
#include "tracee/affinity.h"
#include "tracee/call_log.h"
#include "tracee/tracee.h"

#include <signal.h>

/* One process of the run. */
struct repeated {
    pid_t process;
    size_t position;         /* in the log: the call that comes next */
    uint64_t ticks;          /* of the cells, when they were looked at last */
    bool in_call;            /* it stands in front of one */
    struct system_call call; /* that one */
    int signal;              /* that it gets when it goes on */
    unsigned written;        /* at STOP_WRITE: which of what is watched, as bits */
    bool at_hook;            /* it stands in the runtime, which will set its countdown */
    uint64_t distance;       /* ticks: the countdown that it gets behind that; 0: none */
    /* of ticks, as they were set last */
    uint64_t cells[QUIPU_MANY_LANES], base;
};

enum stop {
    STOP_ENDED,    /* the process is gone */
    STOP_THREAD,   /* it stands where a thread has got its cells: quipu_moment_thread */
    STOP_GOAL,     /* its countdown has ended: quipu_moment_near */
    STOP_PLACE,    /* it has come to a breakpoint that is no hook: the run's place */
    STOP_STEP,     /* behind one instruction */
    STOP_WRITE,    /* behind an instruction that wrote what is watched */
    STOP_CALL,     /* behind a system call */
    STOP_ONCE,     /* behind something that cannot be repeated */
    STOP_FAULT,    /* a signal for what it did, which it will get */
    STOP_EXIT,     /* in front of its last system call */
    STOP_CLONE,    /* it has made a second thread, or a process of another kind than fork's */
    STOP_PROGRAM,  /* it has become another program */
    STOP_CAUGHT_UP /* a copy is where the first process stands, or leaves its way */
};

struct run {
    struct arena *arena;
    struct binary *binary;
    struct tracee tracee; /* the first process; it owns the breakpoints */
    struct repeated first;
    struct call_log log;
    struct affinity affinity; /* of the first process, until it makes another thread */
    bool has_registers;       /* debug registers see writes */
    uint64_t bias, thread_hook, near_hook;
    uint64_t place;                   /* of the breakpoint that it has come to; 0: none */
    uint64_t block;                   /* address of the thread's cells of events; 0: none yet */
    uint64_t site;                    /* of an instruction that makes a system call; 0: none seen */
    uint64_t lanes[QUIPU_MANY_LANES]; /* what the cells of ticks had each of late */
    int status;                       /* as of wait, of the process that has ended last */
};

/* Starts ARGV, whose program is the binary of RUN.  Returns NULL, or what is wrong, "" where that
 * was said. */
const char *start_run(struct run *run, char **argv);

/* Lets PROCESS go on, by one instruction where STEP; copies repeat. */
enum stop go_on(struct run *run, struct repeated *process, bool step);

/* Lets the first process go on until WANTED, or until there is nothing to repeat any more:
 * STOP_ENDED, STOP_PROGRAM, STOP_CLONE. */
enum stop go_until(struct run *run, enum stop wanted);

/* The same until it stands in front of one of the instructions at PLACES, which is then `place`:
 * STOP_PLACE. */
enum stop go_to_place(struct run *run, const address_list *places);

#endif

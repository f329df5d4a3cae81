/* repeat.h: a run of one thread, parts of which can be repeated.
 *
 * The first process is the real one. It makes its system calls, and they are logged. Copies of it
 * (checkpoint.h) repeat parts of the run, and get the results of calls from the log. */
#ifndef QUIPU_TRACEE_REPEAT_H
#define QUIPU_TRACEE_REPEAT_H

#include "symbols/binary.h"
#include "tracee/affinity.h"
#include "tracee/call_log.h"
#include "tracee/countdown.h"
#include "tracee/tracee.h"

#include <signal.h>

/* One process of the run. */
struct repeated {
    pid_t process;
    size_t position;         /* index in the log of the next call */
    uint64_t ticks;          /* according to the cells, when they were read last */
    bool in_call;            /* it is stopped in front of a system call, or in one */
    struct system_call call; /* the system call */
    int signal;              /* to be delivered when it continues; 0: none */
    unsigned written;        /* at STOP_WRITE: bits of the watches that were written */
    struct countdown countdown;
};

enum stop {
    STOP_ENDED,     /* the process has ended */
    STOP_THREAD,    /* a thread has got its cells: quipu_moment_thread */
    STOP_COUNTDOWN, /* its countdown has ended: quipu_moment_near */
    STOP_PLACE,     /* it has reached a breakpoint that is no hook; see `place` of struct run */
    STOP_STEP,      /* behind one instruction */
    STOP_WRITE,     /* behind an instruction that wrote what is watched */
    STOP_CALL,      /* behind a system call */
    STOP_ONCE,      /* behind something that cannot be repeated */
    STOP_FAULT,     /* it is about to get a signal that its own instruction caused */
    STOP_EXIT,      /* in front of its last system call */
    STOP_CLONE,     /* it has made a second thread, or a process otherwise than by fork */
    STOP_PROGRAM,   /* it has executed another program */
    STOP_CAUGHT_UP  /* a copy has reached the first process, or has left its path */
};

struct run {
    struct arena *arena;
    struct binary *binary;
    struct tracee tracee; /* the first process, with the list of breakpoints */
    struct repeated first;
    struct tick_cells ticks; /* of the first thread, in all processes */
    struct call_log log;
    struct affinity affinity; /* of the first process, until it makes a second thread */
    bool has_registers;       /* debug registers work here */
    uint64_t bias, thread_hook, near_hook;
    uint64_t place; /* address of the breakpoint that was reached last; 0: none */
    uint64_t site;  /* address of an instruction that makes a system call; 0: none seen yet */
    int status;     /* from wait, of the process that ended last */
};

/* Makes COPY, a checkpoint of FROM, which must not be in a system call. Returns NULL, or a message;
 * then there is no copy. */
const char *make_copy(struct run *run, const struct repeated *from, struct repeated *copy);

/* Kills the process of COPY. Does nothing if its number is 0. */
void drop_copy(struct repeated *copy);

/* Starts ARGV, whose program is the binary of RUN. Returns NULL, or a message, or "" if the message
 * was already printed. */
const char *start_run(struct run *run, char **argv);

/* Continues PROCESS, by one instruction if STEP, until a stop of interest. A copy repeats logged
 * calls. */
enum stop go_on(struct run *run, struct repeated *process, bool step);

/* Continues the first process until WANTED, or until nothing can be repeated any more: STOP_ENDED,
 * STOP_PROGRAM, STOP_CLONE. */
enum stop go_until(struct run *run, enum stop wanted);

/* The same, but until it is stopped in front of one of the instructions at PLACES: STOP_PLACE.
 * `place` is then that one's address. */
enum stop go_to_place(struct run *run, const address_list *places);

#endif

/* serial.h: a run of several threads, of which only one at a time executes instructions.
 *
 * The others are stopped, or in system calls. So the order of their writes is known. A turn is a
 * number of ticks, so that it does not depend on the machine's speed and load. */
#ifndef QUIPU_TRACEE_SERIAL_H
#define QUIPU_TRACEE_SERIAL_H

#include "tracee/repeat.h"
#include "x86/kernel.h"

enum member_state {
    MEMBER_STANDS,
    MEMBER_RUNS, /* it executes instructions */
    MEMBER_AWAY  /* in a system call */
};

struct member {
    struct repeated self; /* `process` is the thread's number for the kernel */
    uint8_t state;
    bool stop_asked; /* quipu has sent a SIGSTOP that has not arrived yet */
    bool called; /* it is stopped behind a call that may have written what is watched; not reported
                    yet */
    bool is_pending; /* `pending` is a status that was not handled yet */
    int pending;     /* from wait */
    struct tick_cells ticks;
    uint64_t number;     /* number of the thread: 1, 2, ...; 0: none yet */
    uint64_t last_write; /* address behind its last write that was seen; 0: none */
    uint64_t watch_time; /* version of `watch` in its debug registers */
};

/* Contents of the debug registers. */
struct watch {
    uint64_t addresses[WATCHES_MAX];
    uint32_t sizes[WATCHES_MAX];
    size_t count;
};

struct serial {
    struct run *run;
    struct arena arena;
    VECTOR(struct member) members;
    pid_t last;       /* that executed last */
    bool turn_ended;  /* its turn has ended by its ticks, or by a yield */
    double turn_most; /* ... or ends at this processor time, in seconds */
    unsigned held; /* running children that share the memory; while there are any, no thread runs */
    uint64_t numbered;   /* number of threads that have got their cells */
    struct watch watch;  /* of all threads */
    uint64_t watch_time; /* version of `watch`: the number of changes */
    bool cannot_watch;   /* a thread's registers could not be set */
};

/* The first process of RUN is stopped where it has made its second thread. Returns false if that is
 * a process that may share memory. */
bool begin_serial(struct serial *serial, struct run *run);

/* Each thread gets WATCH in its debug registers before it continues. */
void watch_all(struct serial *serial, const struct watch *watch);

/* Whether the call that MEMBER is in or behind may write what is watched. */
bool may_have_written(const struct serial *serial, const struct member *member);

/* Runs the threads in turns. Returns the reason of a stop, with *WHICH stopped and no other
 * thread running:
 *   STOP_WRITE    behind an instruction that wrote what is watched
 *   STOP_CALL     behind a system call that may have written it
 *   STOP_CLONE    it has made a process that may share memory
 *   STOP_PROGRAM  it has executed another program
 *   STOP_ENDED    all have ended; *WHICH is NULL */
enum stop go_on_serial(struct serial *serial, struct member **which);

/* Hands all threads over to the run's tracee, stopped, with empty debug registers. */
void end_serial(struct serial *serial);

#endif

/* serial.h: a run of several threads, of which one at a time executes instructions of its own.
 *
 * The others stand, or are away in system calls.  So it is known in which order they write. */
#ifndef QUIPU_TRACEE_SERIAL_H
#define QUIPU_TRACEE_SERIAL_H

#include "tracee/repeat.h"
#include "x86/kernel.h"

enum member_state {
    MEMBER_STANDS,
    MEMBER_RUNS, /* its own instructions */
    MEMBER_AWAY  /* in a system call */
};

struct member {
    struct repeated self; /* its process is the thread's number for the kernel */
    uint8_t state;
    bool stop_asked; /* a SIGSTOP of ours is on its way */
    bool called;     /* it stands behind a call that may have written; not told yet */
    bool is_pending; /* there is a status that was not looked at yet */
    int pending;     /* that one, as of wait */
    uint64_t block;  /* address of its cells of events; 0: none yet */
    uint64_t number; /* of the thread: 1, 2, ...; 0: none yet */
    uint64_t
        last_write; /* address at which it stood behind its last write that was seen; 0: none */
    uint64_t watch_time; /* of the watch that its debug registers hold */
};

/* What debug registers hold. */
struct watch {
    uint64_t addresses[WATCHES_MAX];
    uint32_t sizes[WATCHES_MAX];
    size_t count;
};

struct serial {
    struct run *run;
    struct arena arena;
    VECTOR(struct member) members;
    pid_t last;          /* that ran last */
    double slice_end;    /* seconds: until then it has the turn */
    unsigned held;       /* children that share the memory and run; then no thread does */
    uint64_t numbered;   /* threads that have got their cells */
    struct watch watch;  /* of all threads */
    uint64_t watch_time; /* how often it was set */
    bool cannot_watch;   /* a thread's registers could not be set */
};

/* The first process of RUN stands where it has made its second thread.  Returns false where that is
 * a process that may share memory. */
bool begin_serial(struct serial *serial, struct run *run);

/* Each thread watches WATCH before it goes on. */
void watch_all(struct serial *serial, const struct watch *watch);

/* Whether the call in which or behind which MEMBER is may write what is watched. */
bool may_have_written(const struct serial *serial, const struct member *member);

/* Lets threads go on, by turns.  Sets *WHICH, which stands; no other runs:
 *   STOP_WRITE    behind an instruction that wrote what is watched
 *   STOP_CALL     behind a system call that may have written
 *   STOP_CLONE    it has made a process that may share memory
 *   STOP_PROGRAM  another program has begun
 *   STOP_ENDED    all are gone; *WHICH is NULL */
enum stop go_on_serial(struct serial *serial, struct member **which);

/* Hands all threads over to the run's tracee, stopped, with nothing watched. */
void end_serial(struct serial *serial);

#endif

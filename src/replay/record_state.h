/* record_state.h: the state of a recorder, which its parts share (record.h).
 *
 * Threads that share memory which they may write form a group. One thread of a group has the turn,
 * and only that one executes instructions; the others stand, or are in system calls. What a thread
 * has done is recorded when it has the turn, so the order of a group's events is the order in which
 * its memory has changed. Groups run in parallel. */
#ifndef QUIPU_REPLAY_RECORD_STATE_H
#define QUIPU_REPLAY_RECORD_STATE_H

#include "replay/image.h"
#include "replay/inside.h"
#include "replay/known_files.h"
#include "replay/start.h"
#include "replay/streams.h"
#include "replay/ticks.h"
#include "replay/writer.h"
#include "tracee/affinity.h"
#include "tracee/call_effects.h"
#include "tracee/stop.h"
#include "tracee/tracee.h"
#include "util/address_range.h"
#include "x86/call_stop.h"
#include "x86/counter_read.h"

#include <signal.h>
#include <time.h>

enum {
    KEEP_SIGNAL = SIGUSR1, /* by which another process asks for what is recorded up to now */
    HELD_SECONDS = 2,      /* a signal is held back no longer, */
    HELD_TRIES = 8,        /* but for so many tries to stop the thread at a place */
    ALONE_SECONDS = 30     /* nor a turn, if others wait */
};

/* Where a thread is, as far as the recording knows. */
enum record_state {
    RECORD_RUNS,        /* in the program's code */
    RECORD_IN_CALL,     /* between the two stops of a call */
    RECORD_INTERRUPTED, /* behind a call that was interrupted, and is not in the recording yet */
    RECORD_TURNED_BACK, /* in a call that is not made, as a signal comes in front of it */
    RECORD_EXECUTES,    /* in a call that has executed another program */
    RECORD_ENDS,        /* it does not execute any more */
    RECORD_LEAVES,      /* it is no longer recorded, and will be released at its next stop */
    RECORD_LEFT         /* it is released, or is no more */
};

/* An instruction that read the time stamp counter, and now faults. */
struct counter_read {
    uint64_t address;
    uint8_t size, code[COUNTER_READ_MAX]; /* the instruction */
};

typedef VECTOR(struct counter_read) counter_read_list;

/* A segment of System V shared memory. */
struct attached_segment {
    uint64_t address, size;
    uint32_t number; /* of the shared file that it is */
};

/* A file that recorded processes share as memory. */
struct shared_file {
    uint64_t device, inode;
    int64_t seconds; /* at which it was made */
    uint32_t nanoseconds;
};

struct recorder;
struct recorded_thread;

/* Random turns. */
struct shuffle {
    bool on;
    uint64_t random; /* the state of the generator */
    double until;    /* up to then the priorities hold */
};

struct group {
    struct group *next;
    struct inside *inside; /* of its only process, whose threads pass the turn; NULL: they do not */
    bool is_fresh;         /* it has a thread that was not continued yet */
    struct recorded_thread *turn; /* that has it; NULL: none */
    uint32_t last;                /* that had it */
    size_t threads;               /* zombies, too */
    double until;                 /* behind this time the turn ends at the next call */
    uint64_t ticks;               /* without a call, behind which it ends; 0: any number */
};

struct recorded_process {
    struct arena arena; /* of what its program has */
    struct recorder *recorder;
    struct recorded_process *next;
    struct group *group;
    pid_t number;
    size_t threads;
    struct affinity affinity;
    struct streams streams;
    counter_read_list counter_reads;
    struct process_ticks ticks;
    uint64_t site; /* of an instruction that makes a call; 0: none seen yet */
    struct inside inside;
    bool filters;   /* the program has a filter for system calls of its own */
    int hides_rest; /* descriptor + 1 of a memory map of which the rest of a line is hidden; or 0 */
    const char *path;                         /* of its program, in `arena` */
    VECTOR(struct attached_segment) segments; /* some may be detached */
    VECTOR(uint32_t) shared;                  /* numbers of the files that it has mapped so */
    bool shares_pages;                        /* it has mapped memory that a child of it shares */
    bool is_undumpable;                       /* as it has asked for; it is not */
    bool is_static;                           /* its program began without a loader */
    bool interprets;                          /* code that it maps is data for it */
    bool shares_all;                          /* its memory is that of another process */
    bool knows_files;                         /* `files` is still right */
    address_range_list files;                 /* its memory that is mapped files */
    uint64_t data_end;                        /* of brk; 0: it has made no such call */
    char *name;                               /* by who has made it */
};

struct recorded_thread {
    struct recorder *recorder;
    struct recorded_process *process;
    struct recorded_thread *next;
    pid_t number;
    uint32_t id; /* in the recording */

    enum record_state state;
    struct call_effects effects;
    struct system_call call;
    uint32_t call_hash; /* of the registers in front of it */
    uint64_t behind;    /* the address behind its instruction */
    bool was_tried;     /* it was tried inside, where it would have waited */
    bool first_filter;  /* the call adds the first filter for calls of the program */
    bool is_instead;    /* the call is made with other arguments */
    int64_t refused;    /* the call is not made, and fails with this error; 0: it is made */
    const char *opened; /* the path that the call opens, or "" */
    uint32_t maps;      /* number of the file that the call maps as shared memory; 0: none */
    uint32_t writes;    /* number of the shared file that it writes to; 0: none */
    int stream;         /* 1 or 2: the call writes to standard output or error */
    int signal;         /* to be delivered when it continues; 0: none */
    uint64_t clear;     /* the kernel sets this word to 0 when it ends; 0: none */

    bool stop_asked;       /* a SIGSTOP of ours has not come yet */
    bool tick_asked;       /* the same, to end its turn at its next tick */
    struct tick_stop tick; /* it goes to its next tick */
    double next_look;      /* whether it waits in a loop; 0: not asked yet */
    double look_pause;     /* seconds from that look to the one behind it */
    double next_place;     /* it is stopped at no place before, */
    double next_held;      /* or for a signal not before */

    /* Its turn. */
    uint32_t priority;    /* if turns are random */
    bool stands;          /* it is stopped, and would continue */
    bool waits;           /* it stands until another one has written to its stream */
    bool yields;          /* it gives its turn to others */
    bool at_event;        /* it has executed nothing since its last event */
    bool is_stopped;      /* a signal has stopped its process, as without us */
    bool is_entry;        /* the call that it is in has an event */
    bool vforks;          /* it waits for a child that shares its memory */
    bool waits_inside;    /* it waits in a call that it has entered inside */
    bool stands_for_turn; /* and has the result of that */
    bool is_pending;
    int pending; /* a status of wait that was not handled yet */

    /* Where the registers were when the last event was recorded. A signal that comes while they
     * are the same comes behind that event, or in front of the next call. */
    struct user_regs_struct boundary;
    bool has_boundary, before_call;

    /* Signals that came between are held back, in the kernel, up to the next call. */
    bool held;
    uint64_t mask; /* the program's own */
    int held_signal;
    double held_until;
    unsigned tries; /* to stop it at a place, since then */

    /* For images. */
    char *name;                    /* by who has made it */
    uint32_t children, successors; /* processes and threads that it has made */
    uint64_t stack, stack_end;     /* its alternate stack; equal: none */
    struct registers *entry;       /* in front of its last call; NULL: not kept */
    bool stands_for_image, had_tick;
};

/* The STATUS of wait is handled later. */
static inline void keep_pending(struct recorded_thread *thread, int status) {
    thread->pending = status;
    thread->is_pending = true;
}

/* A part of memory in an image. */
struct memory_part {
    struct image_mapping mapping;
    bool is_anonymous, is_empty; /* it has no file; no pages */
};

typedef VECTOR(struct memory_part) memory_part_list;

/* A part of the file with which a recording can begin. */
struct kept_part {
    uint64_t place; /* in the file */
    double time;
};

/* Of a recording of the last SECONDS of a run. */
struct last {
    double seconds; /* 0: all of the run is kept */
    double next;    /* time of the next image */
    uint64_t end;   /* place in the file behind the last image; 0: there is none */
    const char *program;
    char **command;
    VECTOR(struct kept_part) parts;
};

/* A stop of a process that its parent has not told of yet. */
struct early_stop {
    pid_t number;
    int status;
};

/* Numbers of threads that are no longer recorded, but must be traced. */
typedef VECTOR(pid_t) passing_list;

struct recorder {
    struct arena *arena;
    const char *path; /* of the recording */
    struct recording_writer writer;
    struct recorded_process *processes;
    struct recorded_thread *threads;
    VECTOR(struct early_stop) early;
    struct group *groups;
    bool has_fresh;                       /* a group is fresh, or empty */
    struct recorded_thread *writing;      /* to a stream; NULL: none */
    struct affinity affinity;             /* of the first process as it began, and ours */
    struct known_parts pieces;            /* numbers of their contents in the recording; 0: zeros */
    VECTOR(size_t) contents;              /* sizes of those in the recording */
    struct known_parts files;             /* that were told of */
    struct known_parts code;              /* indices of the reads of the counter in it */
    VECTOR(counter_read_list) code_reads; /* by addresses relative to the code's begin */
    VECTOR(struct shared_file) shared;    /* by their numbers, from 1 */
    struct shuffle shuffle;
    bool stops;    /* at each call */
    bool filters;  /* calls that the memory inside makes do not stop, all others do */
    bool promises; /* for that no process gets further privileges */
    struct inside_files inside_files;
    passing_list passing;
    struct last last;
    struct timespec began; /* by the clock of files */
    uint64_t calls, signals;
    uint32_t begun; /* threads */
    pid_t first;    /* number of the first process */
    bool first_ended;
    bool keeps_running; /* the program goes on if the recorder is killed */
    bool failed;        /* the recording cannot be written, which was told */
    int status;         /* of wait, once the first process has ended */
};

#endif

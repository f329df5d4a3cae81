/* state.h: what the parts of a trace of a recorded run share; private to src/retrace.
 *
 * retrace.c    the run
 * modules.c    the code that records: found, and armed
 * threads.c    the memory of threads, and their chunks
 * serve.c      what the program asks of the runtime
 * turns.c      the order of threads */
#ifndef QUIPU_RETRACE_STATE_H
#define QUIPU_RETRACE_STATE_H

#include "retrace/retrace.h"

#include "format/trace.h"
#include "symbols/binary.h"
#include "trace/trace.h"
#include "util/vector.h"

#include <sys/user.h>

struct retrace;
struct retraced_thread;

/* Code of the runtime at which the program stops. */
enum served {
    SERVED_FULL,     /* a record has no room */
    SERVED_CONTINUE, /* the same, of the runtime itself */
    SERVED_HANDLER,  /* a signal handler begins */
    SERVED_READABLE, /* whether memory can be read */
    SERVED_COUNTS,   /* a thread begins to count ticks */
    SERVED_END,      /* the module ends */
    SERVED_KINDS
};

/* Of the runtime: [begin, end), as it is loaded. */
struct code_range {
    uint64_t begin, end;
};

/* A word of each thread, by its distance from the base of %fs. */
struct thread_word {
    int64_t distance;
    uint64_t slot; /* address where the loader puts the distance once it is known; 0: it is known */
};

/* A module of a process that records. */
struct retraced_module {
    const char *path;
    struct binary *binary; /* owned */
    struct traced_module notes;
    uint64_t bias;
    uint64_t served[SERVED_KINDS]; /* addresses; 0: it has no such code */
    struct code_range order, measure;
    uint64_t unattached;                     /* the data of threads that have none of their own */
    struct thread_word data_word, bias_word; /* quipu_trace, quipu_bias */
    uint64_t cells; /* of events, as they are linked in it; 0: it counts no ticks */
};

struct other_module {
    const char *path;
    uint64_t bias;
};

/* The memory of a process. */
struct retraced_process {
    struct retraced_process *next;
    pid_t number;         /* of the process that has it */
    pid_t recorded;       /* ... which was that */
    uint64_t program;     /* where its program begins */
    uint32_t place;       /* number in the trace; 0: nothing in it records yet */
    uint32_t threads;     /* that have recorded */
    uint64_t environment; /* above all frames of the first thread; 0: not known */
    bool looked, changed; /* at its modules; its mappings have changed since */
    bool has_control;     /* the control page is mapped */
    VECTOR(struct retraced_module *) modules;
    VECTOR(struct other_module) others; /* that do not record */
};

/* A signal handler that has not returned. */
struct active_handler {
    uint64_t frame; /* the kernel's */
};

struct retraced_thread {
    struct retraced_thread *next;
    struct retraced_process *process;
    pid_t recorded;
    uint64_t pointer; /* the base of its %fs */
    uint64_t address; /* of its records in the process */
    uint8_t *records; /* the same memory here */
    struct quipu_trace_thread *known;
    uint32_t number, chunks;
    bool begins;   /* its first record, a ticket, is to be written yet */
    bool inherits; /* it goes on in functions that another process has entered */
    bool fills;    /* `chunk` has begun */
    struct quipu_trace_chunk chunk;
    struct quipu_trace_counter counters[QUIPU_TRACE_COUNTERS_MOST];
    VECTOR(struct active_handler) handlers;
};

/* The thread that executes, and what was so far. */
struct turn {
    const struct retraced_process *process; /* NULL: there was none */
    pid_t recorded, number;
};

/* Tickets up to END, which is none of them, were taken at TIME, or before. */
struct ticket_time {
    uint64_t end, time;
};

struct retrace {
    struct arena *arena;
    struct player *player;
    struct trace_sink *sink;
    uint32_t start_every;
    struct retraced_process *processes;
    struct retraced_process *process; /* that plays */
    uint32_t process_count;           /* that are in the trace */
    struct retraced_thread *threads;  /* those of processes that are gone, too */
    struct quipu_trace_control *control;
    uint64_t size;   /* of the shared memory, with what was added */
    uint64_t places; /* of threads, that were given */
    uint64_t time;   /* rises with each turn */
    struct turn turn;
    VECTOR(struct quipu_trace_switch) switches;
    VECTOR(struct ticket_time) times; /* by their ends */
    uint8_t *contents;                /* of a chunk, while it is put together */
    const char *wrong;                /* why it ends, or NULL */
};

/* Ends the run with the message. */
static inline void end_retrace(struct retrace *retrace, const char *wrong) {
    if (!retrace->wrong)
        retrace->wrong = wrong;
}

/* ---- modules.c ---- */

/* Looks for modules of the process that plays, arms those that record, and tells of them. */
void look_at_modules(struct retrace *retrace);

/* Returns the module whose code has ADDRESS, or NULL. */
const struct retraced_module *retraced_module_at(const struct retraced_process *process,
                                                 uint64_t address);

/* Whether ADDRESS is in a module that records; in a function of it that does. */
bool is_traced_code(const struct retraced_process *process, uint64_t address);
bool is_traced_function(const struct retraced_process *process, uint64_t address);

/* Returns the address of WORD of the thread of PROCESS with that BASE of %fs; or 0. */
uint64_t thread_word_at(const struct thread_word *word, pid_t process, uint64_t base);

/* ---- threads.c ---- */

/* Returns the data of the thread that plays, which is about to record in MODULE; it gets some, if
 * it has none yet. NULL: the run ends. */
struct retraced_thread *attach_thread(struct retrace *retrace, const struct retraced_module *module,
                                      const struct user_regs_struct *registers);

/* Returns the data of the thread that plays, or NULL if it has not recorded. */
struct retraced_thread *find_thread(const struct retrace *retrace);

/* The process is in front of its program's first instruction, or is a copy: finds its environment,
 * which is above all frames of its first thread. */
void find_environment(struct retrace *retrace);

/* The process is a copy of another one, whose thread has data in it: gives it its own. */
void inherit_thread(struct retrace *retrace);

/* Reserves a record of SIZE bytes, in a new chunk if there is no room. RETURNS: registers in front
 * of the call of quipu_trace_full in the code of a record; NULL: it is called elsewhere. Returns
 * the end of the record. */
uint64_t reserve_record(struct retrace *retrace, struct retraced_thread *thread, uint64_t size,
                        const struct user_regs_struct *registers);

/* Adds a record of SIZE bytes. Returns where it is here. */
uint8_t *add_record(struct retrace *retrace, struct retraced_thread *thread, uint64_t size);

/* Writes a ticket as the thread's next record. */
void write_ticket(struct retrace *retrace, struct retraced_thread *thread);

/* The thread begins to count ticks in MODULE, as NUMBER. */
void note_counter(struct retraced_thread *thread, const struct retraced_module *module,
                  uint32_t number);

/* Adds what the thread has recorded to the trace. */
void hand_over(struct retrace *retrace, struct retraced_thread *thread);

/* ---- serve.c ---- */

/* Whether the breakpoint at ADDRESS is that of a runtime. */
bool is_served(void *context, uint64_t address);

/* The thread that plays is stopped at one: does what the runtime would. */
void serve_stop(struct retrace *retrace);

/* It is about to return from a signal handler. */
void leave_handler(struct retrace *retrace);

/* ---- turns.c ---- */

/* The thread of the player's next event goes on. */
void begin_trace_turn(struct retrace *retrace);

/* Adds the schedule to the trace, if there are several threads. */
void add_schedule(struct retrace *retrace);

#endif

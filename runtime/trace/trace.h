/* trace.h: what the parts of a program's recording share. format/trace.h is the contract.
 *
 * trace.c      threads and processes
 * buffers.c    buffers that 'quipu trace' empties
 * start.c      the state of a thread where a chunk begins
 * counters.c   ticks of a thread where a chunk begins and ends
 * order.c      tickets for the order of threads
 * measure.c    what calls of known functions will access, where memory tells it;
 *              measure_kernel.c: what system calls will
 * sites.c      code that is left out until a trace is recorded
 * signal.c     signal handlers
 * caller.c     the place in traced code that a signal has interrupted */
#ifndef QUIPU_RUNTIME_TRACE_TRACE_H
#define QUIPU_RUNTIME_TRACE_TRACE_H

#include "format/data_file.h"
#include "format/trace.h"
#include "runtime/core/state.h"

#include <pthread.h>
#include <stddef.h>
#include <ucontext.h>

enum {
    BUFFERS_MOST = 16 /* of a thread */
};

/* Invariants
 *   - The cursor leads into the records of `chunk`, or into memory that nobody reads, or has the
 *     bit QUIPU_TRACE_FULL, so that the next record comes to quipu_trace_continue.
 *   - `chunk` is one of `buffers`, in state QUIPU_TRACE_FILLING; the others are not. */
struct thread {
    struct quipu_trace_thread known; /* first: inserted code knows it, ... */
    _Alignas(QUIPU_TRACE_LAST_VALUES) uint64_t last[QUIPU_TRACE_LAST_COUNT]; /* ... and this */
    struct thread *next;             /* of all threads of the process */
    struct quipu_trace_chunk *chunk; /* the buffer that gets its records; NULL: none */
    struct quipu_trace_chunk *buffers[BUFFERS_MOST];
    uint32_t buffer_count;
    char *nowhere; /* records that nobody reads; NULL: none */
    bool lost;     /* it got no buffer: nothing more is recorded */
    bool broken;   /* records before its next chunk are not in the trace */
    bool begins;   /* its first record, a ticket, is to be written yet */
    bool inherits; /* a child of fork, which goes on in functions of its parent */
    uint8_t ends;  /* calls of the destructor that tells of its end */
    const struct quipu_trace_control *control; /* of the recording that its buffers are of */
    /* The kernel's frame of a handler that has interrupted code which still writes into `chunk`;
     * NULL: there is none. */
    const void *held;
    uint32_t tid, number, chunks;
    uint64_t pointer; /* the base of its %fs */
};

_Static_assert(offsetof(struct thread, last) == QUIPU_TRACE_LAST_VALUES, "as inserted code has it");

/* The registers of the code that has called quipu_trace_full (full.S). */
struct full_frame {
    const uint64_t *base; /* of the frame: the registers of keep_registers are below it */
    const uint64_t *kept; /* %rbx, %r12, %r13, %r14, %r15 */
};

/* Code of a module that records. */
struct code_range {
    uint64_t begin, end;
};

enum {
    CODE_MOST = 64 /* of a process */
};

enum trace_phase {
    TRACE_UNKNOWN, /* the environment has not been read */
    TRACE_ON,      /* `control` is mapped */
    TRACE_NONE,    /* there is no recording */
};

/* What the modules of a process share. It is in memory of its own, and outlives the module that has
 * made it. */
struct trace {
    uint32_t lock;
    uint32_t phase; /* enum trace_phase */
    bool ordered;   /* others may share memory with the process */
    bool counts;    /* a module that has joined may count ticks */
    bool has_ends;  /* its threads tell by `ends` that they end */
    pthread_key_t ends;
    struct quipu_trace_control *control;
    struct quipu_trace_time *times; /* of tickets; NULL: the recording does not want them */
    uint64_t environment; /* address of the first thread's stack that is above all its frames; or of
                             other memory */
    struct thread *threads;
    uint32_t process, pid, thread_count;
    uint32_t code_count;
    struct code_range code[CODE_MOST];
    char directory[PATH_SIZE];
};

/* Of threads that have no buffer yet. They only add to it. */
extern struct quipu_trace_thread quipu_trace_unattached;

/* full.S: called by sites (format/trace.h). */
void quipu_trace_order(void);
extern const char quipu_trace_order_frame[], quipu_trace_order_end[];

/* full.S: the calling thread's quipu_trace. */
struct quipu_trace_thread **quipu_trace_own(void);
void quipu_trace_full(void);
extern const char quipu_trace_full_frame[], quipu_trace_again[], quipu_trace_changed[],
    quipu_trace_full_end[];

/* buffers.c: maps the recording's control file. Returns NULL if there is no recording of this
 * version. */
struct quipu_trace_control *quipu_trace_open_control(const struct trace *trace);
/* buffers.c: maps the file of the recording's times of tickets. Returns NULL if there is none. */
struct quipu_trace_time *quipu_trace_open_times(const struct trace *trace);
/* buffers.c: tells 'quipu trace' of the module of which INFO is. */
void quipu_trace_describe(struct trace *trace, const struct dl_phdr_info *info);
/* buffers.c: tells it of the modules of the process that have no records. */
void quipu_trace_describe_libraries(struct trace *trace);
/* buffers.c: hands over the calling thread's buffer, if it has one, and gives it another one. Waits
 * for that, if need be. Returns where the records go. FRAME: where the thread is; NULL: not at a
 * record's code. All signals must be blocked. */
char *quipu_trace_next_buffer(struct trace *trace, struct thread *thread,
                              const struct full_frame *frame);
/* buffers.c: removes the buffers of the parent, whose thread it was. */
void quipu_trace_drop_buffers(struct thread *thread);

/* start.c: describes the thread in front of the records at RECORDS. Returns the size of that. */
uint32_t quipu_trace_describe_start(const struct trace *trace, char *records,
                                    const struct full_frame *frame);

/* counters.c: describes the calling thread's counters where its CHUNK begins, or ends. */
void quipu_trace_begin_counters(const struct trace *trace, struct quipu_trace_chunk *chunk);
void quipu_trace_end_counters(const struct trace *trace, struct quipu_trace_chunk *chunk);
/* counters.c: adds COUNTER, of a module, if the CHUNK does not have it. */
void quipu_trace_add_counter(struct quipu_trace_chunk *chunk, struct quipu_trace_counter counter);
/* start.c: whether the 8 bytes at ADDRESS, which is not 0, can be read. */
bool quipu_trace_is_readable(uint64_t address);

/* caller.c: notes the code of the module of which INFO is. */
void quipu_trace_add_code(struct trace *trace, const struct dl_phdr_info *info);
/* caller.c: a signal has interrupted the thread at ADDRESS, with the stack pointer STACK. Returns
 * that address if it is in traced code; or else the one behind the last call that traced code has
 * made, with QUIPU_TRACE_IN_CALL, if it finds that on the stack. */
uint64_t quipu_trace_find_caller(const struct trace *trace, uint64_t address, uint64_t stack);

/* order.c: the process begins to record. */
void quipu_trace_watch_ends(struct trace *trace);
/* order.c: from now on all threads of the process take tickets at all their sites. */
void quipu_trace_order_all(struct trace *trace);
/* order.c: THREAD, which has its number in a process that has its own, begins to record. Its first
 * record is a ticket. */
void quipu_trace_begin_order(struct trace *trace, struct thread *thread);
/* order.c: writes that record to the begin of a buffer, RECORD, if it is not written yet. Returns
 * where the next record begins. */
char *quipu_trace_write_begin(struct thread *thread, char *record);

/* sites.c: makes this module's code record, if it does so only when it is asked to. The module has
 * just been loaded. */
void quipu_trace_arm(void);

/* trace.c: returns the end of a record of SIZE bytes in a buffer of the calling thread. FRAME: as
 * above. */
uint64_t quipu_trace_continue(uint64_t size, const struct full_frame *frame);
/* trace.c: the same, for the frame of quipu_trace_full with the base BASE. KEPT: %rbx, %r12, %r13,
 * %r14, %r15. */
uint64_t quipu_trace_make_room(uint64_t size, const uint64_t *base, const uint64_t *kept);

/* trace.c: adds a record of SIZE bytes for the calling THREAD. Returns its begin. All signals must
 * be blocked. */
char *quipu_trace_add_record(struct thread *thread, uint64_t size);
/* signal.c: the kernel has called a function, which returns to RESTORER. */
void quipu_trace_interrupted(ucontext_t *context, const uint8_t *restorer);
/* signal.c: the handler with this frame of the kernel returns. HOLDS: the interrupted code has the
 * cursor in %r11, or nothing. */
void quipu_trace_resumed(ucontext_t *frame, bool holds);

/* Calls VISIT for each module of the process, with DATA. */
static inline void visit_modules(int (*visit)(struct dl_phdr_info *info, size_t size, void *data),
                                 void *data) {
    quipu_call_handler((uint64_t)dl_iterate_phdr, (const void *)visit, (uint64_t)data);
}

/* Returns the begin of a buffer's records. */
static inline char *records_of(const struct quipu_trace_chunk *chunk) {
    return (char *)chunk + QUIPU_PAGE;
}

#endif

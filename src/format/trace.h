/* trace.h: what instrumented code records for traces, and the file that gets it (--quipu=trace).
 *
 * All numbers are little endian. Did you change the format? Increment QUIPU_TRACE_VERSION.
 *
 * A thread writes its records one after the other into a buffer, a file that it has mapped. 'quipu
 * trace' takes them from there: what was recorded survives whatever ends the process. The contents
 * of a buffer are a chunk of the trace. A record is reserved and then filled in:
 *
 *     movq %fs:quipu_trace@tpoff, %r10        the thread's struct quipu_trace_thread; in shared
 *                                             objects by quipu_trace@gottpoff
 *     cmpq (%r10), %r11                       its cursor; often a record before has left it there
 *     jne  load
 *     leaq N(%r11), %r11                      N: the record's size
 *     movq %r11, (%r10)
 *     testl $QUIPU_TRACE_FULL, %r11d
 *     jnz  slow                               no room, or no buffer yet
 *     movb $ID, -N(%r11)                      the record
 *     movq %rdi, 1-N(%r11)                    values of registers that it has
 *   load: movq (%r10), %r11; jmp back
 *   slow: movl $N, %r10d; call quipu_trace_full; jmp back      returns the new end in %r11, and the
 *                                                              thread's data in %r10
 *
 * If only %r11 is free it leads to the data first: testb, addq $N, (%r11); movq (%r11), %r11.
 *
 * The comparison is left out where a record before has surely left the cursor in %r11, and the test
 * where a test before has made sure of room (src/pass/trace/cursor.c). A sync that can repeat its
 * values tests the room in front of the addition, then compares them with the last ones
 * (QUIPU_TRACE_LAST_VALUES), and has a second form. Where flags or %r11 are live
 * there is a load instead. The cursor in memory is always right, but for the time between its
 * addition and its store.
 *
 * In a build with moments as well, this code is out of line, and the runtime leads to it when a
 * trace is recorded (QUIPU_SITE_TRACE, format/watch.h).
 *
 * A signal handler between the load of the cursor and its store would write over the record. Behind
 * the store, it could hand over a buffer with a record that is not filled in. So the test at the
 * begin of functions that the kernel may call (quipu_trace_handler) moves the interrupted thread
 * back to the load, or fills in the record itself. When the handler returns, the cursor
 * in %r11 gets its new value. */
#ifndef QUIPU_FORMAT_TRACE_H
#define QUIPU_FORMAT_TRACE_H

#include <stdint.h>

/* First byte of a record.
 *
 *     QUIPU_TRACE_END      nothing more in this chunk
 *     QUIPU_TRACE_SYNC     u48 the stack pointer, u32 the lowest bits of the address of the
 *                          record's own code: where control comes from elsewhere
 *     QUIPU_TRACE_HANDLER  u64 the interrupted address, u64 the address of the kernel's frame. With
 *                          QUIPU_TRACE_IN_CALL: the address behind the call that was interrupted
 *     QUIPU_TRACE_RESUMED  a handler returns to what it has interrupted
 *     QUIPU_TRACE_FIRST... a witness of the function whose code the thread is in, or a sync; up to
 *                          QUIPU_TRACE_LONG and its like, see trace_heads.h
 *     QUIPU_TRACE_ORDER    u32 the lowest bits of the address of the site, as its note has it, u64
 *                          a ticket. Site 0: where a thread or its process begins or ends
 *     QUIPU_TRACE_MEASURED u32 the same of a site in front of a call, u8 enum
 *                          quipu_trace_measured, u64 address, u64 size: what the call accesses
 *
 * and behind witnesses and syncs: u64 for each register that the note names, by rising number, or
 * u32 if its upper half is 0 for sure; then the vector and mask registers that it names, which are
 * those of the instruction behind the record. */
enum {
    QUIPU_TRACE_END = 0,
    QUIPU_TRACE_SYNC = 1,
    QUIPU_TRACE_HANDLER = 2,
    QUIPU_TRACE_RESUMED = 3,
    QUIPU_TRACE_FIRST = 4,
    QUIPU_TRACE_FIRST_SYNC = 236,
    QUIPU_TRACE_LONG = 0xf0,
    QUIPU_TRACE_ORDER = 0xf1,
    QUIPU_TRACE_MEASURED = 0xf2,
    QUIPU_TRACE_LARGE = 0xf3,
    QUIPU_TRACE_LARGE_SYNC = 0xf4,
    QUIPU_TRACE_REPEATED_SYNC = 0xf5, /* and the next two */
    QUIPU_TRACE_REPEATED_SYNC_SIZE = 5,
    QUIPU_TRACE_REPEATED_SYNC_CODE = 1,
    QUIPU_TRACE_SYNC_SIZE = 11,
    QUIPU_TRACE_SYNC_CODE = 7, /* in a sync: the bits of its address */
    QUIPU_TRACE_HANDLER_SIZE = 17,
    QUIPU_TRACE_RESUMED_SIZE = 1,
    QUIPU_TRACE_LONG_SIZE = 4,
    QUIPU_TRACE_LARGE_SIZE = 8,
    QUIPU_TRACE_LARGE_SYNC_SIZE = 15,
    QUIPU_TRACE_ORDER_SIZE = 13,
    QUIPU_TRACE_MEASURED_SIZE = 22,
    QUIPU_TRACE_VECTORS = 2, /* of a record, at most */
    QUIPU_TRACE_VECTOR_SIZE = 64,
    QUIPU_TRACE_RECORD_MAX =
        QUIPU_TRACE_LARGE_SYNC_SIZE + 16 * 8 + QUIPU_TRACE_VECTORS * QUIPU_TRACE_VECTOR_SIZE,
};

#define QUIPU_TRACE_IN_CALL ((uint64_t)1 << 63)

/* A buffer in memory begins QUIPU_PAGE below a multiple of twice QUIPU_TRACE_FULL. Its records
 * begin behind that page, and end where this bit of an address is set, or somewhat behind it: some
 * records are written without a test. */
enum {
    QUIPU_TRACE_FULL = 1 << 18,
    QUIPU_TRACE_SLACK = 1 << 13,
    QUIPU_TRACE_RECORDS_MAX = QUIPU_TRACE_FULL + QUIPU_TRACE_SLACK,
    QUIPU_TRACE_BUFFER = 4096 + QUIPU_TRACE_RECORDS_MAX,
};

/* ---- order ----
 *
 * A thread takes a ticket, the next number of a counter of the recording, in front of what may hand
 * memory to other threads (a release), and behind what may get memory from them (an acquire). It
 * takes it between the instruction and the accesses of the program on that side. So an acquire that
 * gets what a release has handed over has a higher ticket than it, and an order of all threads'
 * instructions in which tickets rise contradicts none of the order that synchronization made.
 * Tickets have no gaps, as long as no thread's records are lost. A site is
 *
 *     movq %fs:quipu_trace@tpoff, %r11
 *     testb $1, QUIPU_TRACE_ORDERED(%r11)     left out where a ticket is always taken
 *     jnz  slow
 *   slow: call quipu_trace_order; jmp back    keeps all registers and flags
 *
 * and its address is that behind the call. */

/* ---- what calls access ----
 *
 * Arguments and results do not tell how long strings are, and what arrays of buffers lead to. So in
 * front of calls of the functions of format/trace_measures.h there is a site,
 *
 *     nopl 0(%rax,%rax)              5 bytes
 *     call quipu_trace_measure       keeps all registers and flags
 *     nopl ROW(%rax,%rax)            8 bytes; ROW: the function's number, and QUIPU_TRACE_JUMPS if
 *                                    a jump leads to it
 *
 * which records one range after the other. Its address is that behind the call. In front of a
 * system call, and of functions that make the one whose number they get, there is such a site with
 * a ROW of its own. It records the number first, with QUIPU_MEASURED_CALL, and then what the table
 * of system calls (format/system_calls.h) says. */
enum {
    QUIPU_TRACE_JUMPS = 1 << 16,
    QUIPU_TRACE_SYSTEM_CALL = 0xfff0, /* the instruction */
    QUIPU_TRACE_SYSCALL = 0xfff1,     /* syscall(number, ...) */
    QUIPU_TRACE_SYSCALL_CP = 0xfff2,  /* musl's __syscall_cp_asm(flag, number, ...) */
    QUIPU_TRACE_ROW = 4,              /* where ROW is, in bytes from the site's address */
};

/* Of a range. */
enum quipu_trace_measured {
    QUIPU_MEASURED_WRITES = 1,   /* otherwise it is read */
    QUIPU_MEASURED_UNSURE = 2,   /* it may be less */
    QUIPU_MEASURED_SHARED = 4,   /* all such ranges of the call together have as many bytes as its
                                  * result tells, the first ones first */
    QUIPU_MEASURED_PRINTED = 16, /* at most one byte more than the result, an int, tells; none if
                                  * that is negative */
    QUIPU_MEASURED_MOVED = 8,    /* the address is that of the result, if that is not NULL */
    QUIPU_MEASURED_CALL = 32,    /* no range: the address is the number of a system call */
    QUIPU_MEASURED_ZERO = 64,    /* only if the result, an int, is 0 */
    QUIPU_MEASURED_RESULT = 128, /* the size's upper 16 bits are the bytes for each one that the
                                  * result counts; its other bits are the most that it may be */
};

enum {
    QUIPU_MEASURED_COUNT = 48 /* the lowest of these bits */
};

/* The part of a thread's data that inserted code knows. */
struct quipu_trace_thread {
    uint64_t cursor;
    uint64_t *tickets; /* of the recording; NULL: nothing is recorded */
    uint64_t unread;   /* begin of the records if nobody reads them; 0: somebody does */
    uint32_t turns;    /* ... so many times from there to the end, until the runtime is asked */
    uint8_t ordered;   /* 1: others may share memory with it, so all its sites take tickets */
    struct quipu_trace_time *times; /* of the tickets, by their lowest 32 bits; NULL: not wanted */
};

/* Behind it is what syncs had the last time, from which a sync may tell that its values are the
 * same. A sync of a function has a place for each of its values; another one may share it. Both
 * the thread and who reads its records begin with zeros where a thread begins, and in a chunk with
 * a start. */
enum {
    QUIPU_TRACE_LAST_VALUES = 128, /* offset in the data; it needs 4 bytes in an instruction */
    QUIPU_TRACE_LAST_COUNT = 1024, /* values of 8 bytes */
};

enum {
    QUIPU_TRACE_TICKETS = 8, /* offsets in it */
    QUIPU_TRACE_UNREAD = 16,
    QUIPU_TRACE_TURNS = 24,
    QUIPU_TRACE_ORDERED = 28,
    QUIPU_TRACE_TIMES_OF = 32,
};

enum {
    QUIPU_TRACE_HAS_VECTORS = 0x80, /* in a note, added to the kind of a record */
    QUIPU_TRACE_REPEATS = 0x40,     /* so, too */
    QUIPU_TRACE_TICKS = 0x80,       /* in a note, added to the kind of an edge: with
                                       --quipu=moment, the software instruction counter advances */
};

#define QUIPU_TRACE_MAGIC "\211qtrace\r"

enum {
    QUIPU_TRACE_VERSION = 7,
};

/* ---- recording ----
 *
 * 'quipu trace' makes a directory, which programs find by the variable QUIPU_TRACE. The file
 * QUIPU_TRACE_CONTROL in it is this structure. 'quipu trace' holds an exclusive lock (flock) of it:
 * who gets a lock knows that nobody takes buffers any more. In all versions, `magic`, `version` and
 * `other` have these places. */
struct quipu_trace_control {
    uint8_t magic[8];     /*  0  QUIPU_TRACE_MAGIC without its NUL */
    uint32_t version;     /*  8  QUIPU_TRACE_VERSION */
    uint32_t stopped;     /* 12  not 0: nothing more is recorded */
    uint32_t numbers;     /* 16  numbers that were given to buffers, from 1 */
    uint32_t processes;   /* 20  numbers that were given to processes, from 1 */
    uint32_t buffers;     /* 24  buffers that exist */
    uint32_t limit;       /* 28  of these; only the first one of a thread may be one more */
    uint32_t filled;      /* 32  futex: changes when a buffer is full */
    uint32_t emptied;     /* 36  futex: changes when a buffer is empty again */
    uint32_t waiting;     /* 40  threads that wait for it */
    uint32_t lost;        /* 44  threads that got no buffer: records are missing */
    uint64_t tickets;     /* 48  that were taken; the next one */
    uint32_t start_every; /* 56  of so many chunks of a thread, one has a start */
    uint32_t drops;       /* 60  enum quipu_trace_drops */
    uint32_t schedule;    /* 64  1: chunks and tickets have times */
    uint32_t other;       /* 68  not 0: a program of this version found another one here */
};

/* What a thread without an empty buffer does. */
enum quipu_trace_drops {
    QUIPU_TRACE_WAITS = 0,
    QUIPU_TRACE_DROPS = 1,      /* it leaves out records */
    QUIPU_TRACE_HAS_DROPPED = 2 /* the same, and this has happened */
};

enum {
    QUIPU_TRACE_PROCESSES_FROM_TICKETS = 20 - 48 /* where `processes` is from `tickets` */
};

#define QUIPU_TRACE_CONTROL "control"

/* The file with the times of tickets, if there is a schedule: as the kernel writes them. 'quipu
 * trace' takes them out long before the same place is written again. The file has holes where
 * nothing is written. */
#define QUIPU_TRACE_TIMES_FILE "times"

struct quipu_trace_time {
    uint64_t seconds, nanoseconds; /* of QUIPU_TRACE_CLOCK */
};

#define QUIPU_TRACE_TIMES_SIZE ((uint64_t)sizeof(struct quipu_trace_time) << 32)

enum {
    QUIPU_TRACE_CLOCK = 4 /* CLOCK_MONOTONIC_RAW; the kernel's events have it, too */
};

/* A process that runs already finds the directory by a symbolic link of its user or of root, which
 * is named by this and the process's number. It looks for that whenever a thread has recorded some
 * buffers' contents that nobody wanted. */
#define QUIPU_TRACE_ATTACH "/dev/shm/quipu-trace-attach."

enum {
    QUIPU_TRACE_LOOK_EVERY = 4 /* so many buffers' contents */
};

/* A buffer is a file of the directory, named by its number in decimal digits. Its process keeps it
 * mapped, and so shows that it lives. It begins with a struct quipu_trace_chunk, whose state says
 * whose turn it is: only the process changes QUIPU_TRACE_EMPTY and QUIPU_TRACE_FILLING, only
 * 'quipu trace' changes QUIPU_TRACE_FILLED and QUIPU_TRACE_STORING. Behind it, at 4096, are the
 * records. */
enum quipu_trace_state {
    QUIPU_TRACE_NEW = 0, /* the chunk is not described yet */
    QUIPU_TRACE_EMPTY = 1,
    QUIPU_TRACE_FILLING = 2,
    QUIPU_TRACE_FILLED = 3,
    QUIPU_TRACE_STORING = 4, /* it is compressed where it is */
};

/* ---- the trace file ----
 *
 * It begins with this. Blocks follow, in any order but for the last one, of QUIPU_TRACE_LAST. */
struct quipu_trace_file {
    uint8_t magic[8]; /*  0  QUIPU_TRACE_MAGIC without its NUL */
    uint32_t version; /*  8  QUIPU_TRACE_VERSION */
    uint32_t unused;  /* 12 */
};

enum quipu_trace_chunk_kind {
    QUIPU_TRACE_RECORDS = 1,   /* of a thread */
    QUIPU_TRACE_MODULE = 2,    /* asciz path */
    QUIPU_TRACE_LAST = 3,      /* nothing: the trace is whole; number: enum quipu_trace_end */
    QUIPU_TRACE_WINDOW = 5,    /* text: what of the run is in the trace (src/trace/window.c) */
    QUIPU_TRACE_LIBRARIES = 4, /* modules that record nothing; for each u64 load bias, asciz path */
    QUIPU_TRACE_SCHEDULE = 6, /* struct quipu_trace_schedule, then struct quipu_trace_switch each */
    QUIPU_TRACE_TIMES = 7,    /* u64 each: times of tickets; `begin`: the number of the first one */
};

enum quipu_trace_end {
    QUIPU_TRACE_LOST = 1,    /* a program got no buffer: records are missing */
    QUIPU_TRACE_STOPPED = 2, /* 'quipu trace' was stopped while programs recorded */
    QUIPU_TRACE_DROPPED = 4, /* threads have left out records instead of waiting */
    QUIPU_TRACE_OTHER = 8,   /* a program was built for another version, and recorded nothing */
};

struct quipu_trace_chunk {
    uint32_t state;    /*  0  enum quipu_trace_state; 0 in the file */
    uint32_t kind;     /*  4  enum quipu_trace_chunk_kind */
    uint32_t process;  /*  8  number of the process in this trace */
    uint32_t pid, tid; /* 12 */
    uint32_t thread;   /* 20  number of the thread in its process, from 1 */
    uint32_t number;   /* 24  of the chunk among the thread's, from 0 */
    uint32_t start;    /* 28  bytes of a struct quipu_trace_start in front of the records, or 0 */
    uint64_t begin;    /* 32  of the thread's %fs; of a module: its load bias */
    uint8_t build_id[32]; /* 40  of a module, zeros behind it */
    uint32_t flags;       /* 72  enum quipu_trace_chunk_flags */
    uint32_t counters;    /* 76  of struct quipu_trace_counter in front of the start, at most
                                 QUIPU_TRACE_COUNTERS_MOST */
    uint64_t time;        /* 80  when the thread has begun it, in nanoseconds; 0: not known */
    uint64_t address;     /* 88  of its records in the process */
    uint64_t end;         /* 96  when the thread had no more room in it; 0: not, or not known */
};

enum quipu_trace_chunk_flags {
    QUIPU_TRACE_BROKEN = 1, /* records between the chunk before and this one were not kept */
    QUIPU_TRACE_SPLIT = 2,  /* in the file: the contents are taken apart (src/trace/split.h) */
};

/* The software instruction counter of the chunk's thread in a module that was built with
 * --quipu=moment. In a buffer they are in front of the records, at the end of its first page; the
 * first one that was added is the last one there. */
struct quipu_trace_counter {
    uint64_t bias;   /*  0  of the module */
    uint64_t begin;  /*  8  ticks of the thread's cells where the chunk begins ... */
    uint64_t end;    /* 16  ... and where it ends; 0: the process ended before */
    uint32_t thread; /* 24  number of the thread in names of moments; 0: the first one */
    uint32_t unused; /* 28 */
};

enum {
    QUIPU_TRACE_COUNTERS_MOST = 96, /* more modules have no moments in the trace */
    QUIPU_TRACE_CONTENTS_MAX =      /* of a chunk: counters, start and records */
        QUIPU_TRACE_RECORDS_MAX +
        QUIPU_TRACE_COUNTERS_MOST * (int)sizeof(struct quipu_trace_counter),
};

/* Returns the size in bytes of the chunk's counters. */
static inline uint32_t quipu_trace_counters_size(const struct quipu_trace_chunk *chunk) {
    return chunk->counters * (uint32_t)sizeof(struct quipu_trace_counter);
}

/* The state of the thread where a chunk begins, so that the chunk can be read without those in
 * front of it: the registers, and the stack from %rsp upwards, from which the callers of the
 * function follow by the rules for unwinding. The first record's code called quipu_trace_full. */
struct quipu_trace_start {
    uint64_t address;       /*   0  to which quipu_trace_full returns */
    uint64_t registers[16]; /*   8  as encoded, as they are there; %r10 and %r11: nothing */
    uint64_t stack;         /* 136  bytes of the stack that follow */
};

enum {
    QUIPU_TRACE_START_EVERY = 8,        /* chunks; where no other number is asked for */
    QUIPU_TRACE_STACK_MOST = 64 * 1024, /* bytes of a stack that a start has */
};

/* ---- schedule ----
 *
 * All threads ran on one processor. A switch is where one of them has left it. Times are
 * nanoseconds of QUIPU_TRACE_CLOCK. */
enum quipu_trace_source {
    QUIPU_TRACE_BY_TICKETS = 1,   /* there are no switches, only times of tickets */
    QUIPU_TRACE_BY_TIMES = 2,     /* their times are known */
    QUIPU_TRACE_BY_REGISTERS = 3, /* ... and the registers of the thread */
    QUIPU_TRACE_BY_RECORDING = 4, /* the same, as a recording has them */
};

enum quipu_trace_switch_cause {
    QUIPU_TRACE_BLOCKED = 1,   /* it waits for something */
    QUIPU_TRACE_PREEMPTED = 2, /* it could go on */
    QUIPU_TRACE_ENDED = 3,
};

struct quipu_trace_schedule { /* in front of each block's switches */
    uint32_t source;          /*  0  enum quipu_trace_source */
    uint32_t processor;       /*  4 */
    uint64_t lost;            /*  8  events that were lost in front of these */
};

struct quipu_trace_switch {
    uint64_t time;     /*  0 */
    uint32_t pid, tid; /*  8 */
    uint64_t address;  /* 16  of the thread's next instruction; 0: not known */
    uint64_t cursor;   /* 24  its %r11, which may be its cursor */
    uint32_t cause;    /* 32  enum quipu_trace_switch_cause */
    uint32_t unused;   /* 36 */
};

/* What stands in front of a block's STORED bytes: its contents as a frame of zstd, with a checksum;
 * or, if both sizes are the same, the contents themselves. Zeros at the end of records are left
 * out. */
struct quipu_trace_block {
    uint32_t stored;                /*  0  bytes that follow */
    uint32_t size;                  /*  4  bytes of the contents */
    struct quipu_trace_chunk chunk; /*  8 */
};

/* The note of a function, in QUIPU_FUNCTIONS_SECTION:
 *     u32 size; u8 kind = QUIPU_NOTE_TRACE; u8 version
 *     u64 address         of its entry, as linked
 *     asciz name          the symbol
 *     uleb fragments      then for each: u64 address as linked
 *     uleb pieces         then for each, a stretch of its code without inserted code:
 *         u8 flags            QUIPU_BLOCK_PADDING
 *         uleb fragment
 *         uleb offset         of its first instruction, in the compiler's output
 *         uleb size           in bytes, in the compiler's output
 *         u32 start           distance of its first instruction from the fragment's address; of
 *                             padding: 0
 *         uleb record         1 + the index of the record in front of it, or 0
 *     uleb hubs
 *     uleb edges          then for each: uleb source, uleb target, u8 kind (enum quipu_edge_kind,
 *                         and QUIPU_TRACE_TICKS), uleb record
 *     uleb records        then for each:
 *         u8 kind             QUIPU_TRACE_SYNC, or QUIPU_TRACE_FIRST: a witness; and
 *                             QUIPU_TRACE_HAS_VECTORS, QUIPU_TRACE_REPEATS
 *         u16 registers       bit n: general register n
 *         u16 narrow          of those, the ones of which only the lower half is recorded
 *         uleb fragment
 *         u32 start           distance of its code from the fragment's address
 *         u16 size            of its code in bytes, without what is out of line
 *         uleb number         the id of a witness (trace_heads.h); of a sync 0
 *         with QUIPU_TRACE_REPEATS, of a sync: it may be without its stack pointer and its 8-byte
 *         values, which then are those of the last time
 *             uleb last       the place of the last stack pointer; those of the values follow
 *                             (QUIPU_TRACE_LAST_VALUES)
 *         with QUIPU_TRACE_HAS_VECTORS: u8 their number, then for each:
 *             u8 size         of its value in bytes: 16, 32 or 64 of a vector register, 2 or 8 of a
 *                             mask register
 *             u8 number       of the register
 *     uleb sites          where tickets are taken; then for each:
 *         uleb fragment
 *         u32 address         distance from the fragment's address
 *         uleb piece          in front of whose first instruction it is, behind the piece's record
 * Ends of edges are as in format/notes.h. A record of an edge is in front of the jump. But that of
 * a QUIPU_EDGE_TAIL with register 0, a sync, is written when the function to which the jump leads
 * has returned, and has its result. If it does not return, there is no such record. */

#endif

/* inside.h: the memory by which system calls are recorded, and replayed, inside of the program's
 * process: what the code in it (inside) and the recorder or player share.
 *
 * It is at a fixed place in the low 2 GB, so that a jump reaches it by an absolute address from
 * anywhere. A system call instruction of the program is replaced by a jump to a trampoline, which
 * tells the number of the site. The code then makes the call itself, or takes its effects from the
 * log, or leaves it to the recorder or player: then the thread stops at the site's own system call
 * instruction here.
 *
 * One thread at a time executes of all that share the memory: the one that has the turn. None is
 * stopped for long in the middle of the code. So the memory has one stack and one state.
 *
 * A thread whose call waits goes to a place with a stack of its own, and gives the turn away: it
 * adds to the log that it has entered the call, sets `owner` to 0, and makes the call. Behind it,
 * the thread takes the turn, and adds the call to the log. If that is not possible soon, it stops
 * at QUIPU_INSIDE_STAND, so the recorder gives it the turn.
 *
 * The recorder sets `wanted` when another thread needs the turn, and then looks at `owner`; a
 * thread changes `owner`, and then looks at `wanted`. So at least one of both sees what the other
 * one has done. While `wanted` is set, no thread takes the turn, and the one that gives it away
 * says so to the recorder.
 *
 * The assembly code (inside/entry.S) reads this file, too. */
#ifndef QUIPU_FORMAT_INSIDE_H
#define QUIPU_FORMAT_INSIDE_H

#define QUIPU_INSIDE            0x70000000 /* the code; its first instruction makes system calls */
#define QUIPU_INSIDE_CALL_END   (QUIPU_INSIDE + 2) /* behind that instruction */
#define QUIPU_INSIDE_STAND      (QUIPU_INSIDE + 4) /* one that is reported */
#define QUIPU_INSIDE_STAND_END  (QUIPU_INSIDE_STAND + 2)
#define QUIPU_INSIDE_EXIT       (QUIPU_INSIDE + 8) /* the jump behind a call that was made */
#define QUIPU_INSIDE_ENTER      (QUIPU_INSIDE + 16)
#define QUIPU_INSIDE_WAIT       (QUIPU_INSIDE + 160) /* makes the calls of threads that wait */
#define QUIPU_INSIDE_WAIT_END   (QUIPU_INSIDE_WAIT + 2)
#define QUIPU_INSIDE_WAIT_MADE  (QUIPU_INSIDE_WAIT + 12) /* the result has been stored */
#define QUIPU_INSIDE_TRAMPOLINE 0x70004000               /* of site 0 */
#define QUIPU_INSIDE_DATA       0x70010000               /* from here on it can be written */
#define QUIPU_INSIDE_STATE      QUIPU_INSIDE_DATA
#define QUIPU_INSIDE_ROWS       0x70011000
#define QUIPU_INSIDE_STACK_END  0x7001a000
#define QUIPU_INSIDE_LOG        0x7001a000
#define QUIPU_INSIDE_PLACES     0x7005a000 /* of threads that wait */
#define QUIPU_INSIDE_END        0x7007a000

/* Places in struct quipu_inside_state. */
#define QUIPU_INSIDE_SAVED_STACK (QUIPU_INSIDE_STATE + 0)
#define QUIPU_INSIDE_CONTINUE    (QUIPU_INSIDE_STATE + 8)
#define QUIPU_INSIDE_LEAVE       (QUIPU_INSIDE_STATE + 16)
#define QUIPU_INSIDE_OWN_PLACE   (QUIPU_INSIDE_STATE + 24)

/* A trampoline: mov $NUMBER, %ecx; jmp; then, at these places in it, the system call instruction of
 * the site, and behind that what follows it in the program, and a jump to the rest. */
#define QUIPU_INSIDE_TRAMPOLINE_SIZE 64
#define QUIPU_INSIDE_SITE_CALL       16
#define QUIPU_INSIDE_SITE_REST       18

#ifndef __ASSEMBLER__

#include <stdint.h>

enum {
    QUIPU_INSIDE_SITES = 256,
    QUIPU_INSIDE_NUMBERS = 512,      /* of system calls that may be made inside */
    QUIPU_INSIDE_DESCRIPTORS = 1024, /* that may be used inside */
    QUIPU_INSIDE_ACCESSES = 3,
    QUIPU_INSIDE_ROWS_MOST = 192,
    QUIPU_INSIDE_BYTES_MOST = 65536, /* that a call reads or writes */
    QUIPU_INSIDE_ENTRY_MOST = QUIPU_INSIDE_BYTES_MOST + 1024,
    QUIPU_INSIDE_LOG_SIZE = QUIPU_INSIDE_PLACES - QUIPU_INSIDE_LOG,
    QUIPU_INSIDE_ARGUMENTS = 6, /* number of an address that is in no argument */
    QUIPU_INSIDE_WAITERS = 64,  /* threads that can wait at a time */
    QUIPU_INSIDE_PLACE_SIZE = 2048,
    QUIPU_INSIDE_ENTERS = UINT16_MAX, /* `pieces` of an entry: the thread begins to wait in it */
};

/* How a call is made so that no other thread waits for its end. */
enum quipu_inside_kind {
    QUIPU_INSIDE_NOT = 0, /* never inside */
    QUIPU_INSIDE_PLAIN,   /* it does not wait */
    QUIPU_INSIDE_READ,    /* it reads bytes from the descriptor in argument 0 */
    QUIPU_INSIDE_WRITE,   /* it writes bytes to that */
    QUIPU_INSIDE_MESSAGE, /* it sends or receives: MSG_DONTWAIT can be added to argument 3 */
    QUIPU_INSIDE_POLL,    /* it waits for the milliseconds of argument `wait` */
    QUIPU_INSIDE_OPEN,    /* it opens the path of argument `wait`, if that is a file or directory */
    QUIPU_INSIDE_CLOSE,
    QUIPU_INSIDE_FUTEX,  /* it waits if the word has the value of argument 2 */
    QUIPU_INSIDE_SLEEP,  /* it waits, for whatever it is */
    QUIPU_INSIDE_CLOCK,  /* it reads the clock */
    QUIPU_INSIDE_VECTOR, /* it reads or writes what a struct iovec leads to, or a file */
};

/* What a descriptor leads to. */
enum quipu_inside_descriptor {
    QUIPU_DESCRIPTOR_UNKNOWN = 0,
    QUIPU_DESCRIPTOR_FILE,  /* calls do not wait for other threads */
    QUIPU_DESCRIPTOR_WAITS, /* they may */
    QUIPU_DESCRIPTOR_BLIND, /* they may, and cannot be tried */
    QUIPU_DESCRIPTOR_LEFT,  /* it is not used inside */
};

/* The kernel's own code (vDSO) that reads the clock. */
enum quipu_inside_clock {
    QUIPU_CLOCK_GETTIME,
    QUIPU_CLOCK_TIMEOFDAY,
    QUIPU_CLOCK_TIME,
    QUIPU_INSIDE_CLOCKS
};

enum quipu_inside_mode {
    QUIPU_INSIDE_RECORD = 0,
    QUIPU_INSIDE_PLAY = 1, /* effects are those of the log's entries */
    QUIPU_INSIDE_GONE = 2, /* nobody gives the turn, or reads the log, any more */
};

/* Why calls are left to the recorder, each a bit of `left`. */
enum {
    QUIPU_LEFT_ALL = 1,
    QUIPU_LEFT_WRITES = 2, /* calls that may change files */
    QUIPU_LEFT_WAITS = 4,  /* calls that would wait, as other threads must execute meanwhile */
    QUIPU_TURN_PASSES = 8, /* but not these: the thread gives the turn away, and waits */
};

/* What a thread says at QUIPU_INSIDE_STAND, as the number of a call that is not made. */
enum quipu_inside_stand {
    QUIPU_STANDS_FOR_TURN = 24, /* sched_yield */
    QUIPU_GIVES_TURN = 39,      /* getpid */
};

/* A call that is made inside, if the condition holds: these bits of the argument have this value.
 */
struct quipu_inside_row {
    uint8_t kind; /* enum quipu_inside_kind */
    uint8_t argument, wait;
    uint8_t changes_files;
    uint8_t descriptor; /* the argument that is one, or QUIPU_INSIDE_ARGUMENTS */
    uint8_t next;       /* row of the same number, or 0 */
    uint16_t number;
    uint32_t mask, value;
    uint32_t accesses[QUIPU_INSIDE_ACCESSES]; /* that write: extents of format/watch_callees.h */
};

/* The rows, from 1 on. */
struct quipu_inside_rows {
    uint8_t first[QUIPU_INSIDE_NUMBERS]; /* by numbers of system calls; 0: none */
    struct quipu_inside_row rows[QUIPU_INSIDE_ROWS_MOST];
};

struct quipu_inside_site {
    uint64_t behind;   /* the address behind its instruction in the program */
    uint64_t goes_on;  /* where the thread continues behind the call */
    uint64_t is_left;  /* address of the site's own instruction here */
    uint64_t to_start; /* of its trampoline: the jump in the program goes through this word */
    uint64_t rest;     /* where the program goes on behind what was moved */
    uint64_t unused;
};

struct quipu_inside_state {
    uint64_t saved_stack; /* the program's stack pointer */
    uint64_t goes_on;     /* where the thread leaves this memory */
    uint64_t is_left;     /* or there, if the call is left */
    uint64_t own_place;   /* struct quipu_inside_waiter of the thread that is about to wait */
    uint32_t owner;       /* number of the thread that has the turn; 0: none */
    uint32_t wanted;      /* not 0: the recorder gives the turn */
    uint32_t mode;        /* enum quipu_inside_mode */
    uint32_t left;        /* bits */
    uint32_t used;        /* bytes of the log with entries */
    uint32_t taken;       /* played: bytes of entries that were taken */
    uint32_t count;       /* of entries that were made or taken */
    uint32_t has_bases;   /* not 0: the processor tells the bases of %fs and %gs */
    uint64_t bases[2];    /* if not, played: those of %fs and %gs of the thread with the log */
    uint64_t left_device; /* files of it are left: that of processes */
    uint64_t clocks[QUIPU_INSIDE_CLOCKS]; /* the kernel's functions; 0: system calls are made */
    uint8_t descriptors[QUIPU_INSIDE_DESCRIPTORS]; /* enum quipu_inside_descriptor */
    uint8_t streams[QUIPU_INSIDE_DESCRIPTORS];     /* not 0: not used inside */
    uint32_t waiting[QUIPU_INSIDE_WAITERS]; /* numbers of the threads in the places; 0: free */
};

/* What the code has pushed, at its place in the memory: the program's registers. */
struct quipu_inside_frame {
    uint64_t rax, rcx, rdx, rbx, rbp, rsi, rdi, r8, r9, r10, r12, r13, r14, r15, flags, unused;
};

#define QUIPU_INSIDE_FRAME (QUIPU_INSIDE_STACK_END - sizeof(struct quipu_inside_frame))

/* A thread that waits, at the end of its place. Below it is its stack. */
struct quipu_inside_waiter {
    struct quipu_inside_frame frame;
    uint64_t saved_stack, goes_on; /* as in the state */
    int64_t result;                /* the code at QUIPU_INSIDE_WAIT sets it, and then ... */
    uint32_t is_made;              /* ... this to 1 */
    uint32_t hash;
};

#define QUIPU_INSIDE_WAITER(place)                                                                 \
    (QUIPU_INSIDE_PLACES + ((uint64_t)(place) + 1) * QUIPU_INSIDE_PLACE_SIZE -                     \
     sizeof(struct quipu_inside_waiter))

/* An entry of the log, a multiple of 8 bytes, followed by its pieces. */
struct quipu_inside_entry {
    uint32_t size; /* with its pieces */
    uint16_t number, pieces;
    uint32_t hash;   /* as in QUIPU_EVENT_CALL */
    uint32_t thread; /* number; 0: the only one */
    int64_t result;
};

/* Memory that a call has written, followed by the bytes, up to a multiple of 8. */
struct quipu_inside_piece {
    uint32_t size;
    uint32_t argument; /* that is the address, or QUIPU_INSIDE_ARGUMENTS */
    uint64_t address;
};

#define QUIPU_INSIDE_ROUNDED(size) (((size) + 7u) & ~7u)

/* Where the table of sites is. */
#define QUIPU_INSIDE_TABLE 0x70014000

_Static_assert(sizeof(struct quipu_inside_waiter) % 16 == 0, "a stack is aligned");
_Static_assert(QUIPU_INSIDE_WAITERS *QUIPU_INSIDE_PLACE_SIZE ==
                   QUIPU_INSIDE_END - QUIPU_INSIDE_PLACES,
               "");
_Static_assert(sizeof(struct quipu_inside_state) <= QUIPU_INSIDE_ROWS - QUIPU_INSIDE_STATE, "");
_Static_assert(sizeof(struct quipu_inside_rows) <= QUIPU_INSIDE_TABLE - QUIPU_INSIDE_ROWS, "");
_Static_assert(sizeof(struct quipu_inside_site) * QUIPU_INSIDE_SITES + 0x2000 <=
                   QUIPU_INSIDE_STACK_END - QUIPU_INSIDE_TABLE,
               "the stack has two pages");

#endif
#endif

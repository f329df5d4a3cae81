/* inside.h: the memory by which system calls are recorded, and replayed, inside of the program's
 * process: what the code in it (inside) and the recorder or player share.
 *
 * It is at a fixed place in the low 2 GB, so that a jump reaches it by an absolute address from
 * anywhere. A system call instruction of the program is replaced by a jump to a trampoline, which
 * tells the number of the site. The code then makes the call itself, or takes its effects from the
 * log, or leaves it to the recorder or player: then the thread stops at the site's own system call
 * instruction here.
 *
 * One thread at a time executes of all that share the memory, and none is stopped for long in the
 * middle of the code. So the memory has one stack and one state.
 *
 * The assembly code (inside/entry.S) reads this file, too. */
#ifndef QUIPU_FORMAT_INSIDE_H
#define QUIPU_FORMAT_INSIDE_H

#define QUIPU_INSIDE            0x70000000 /* the code; its first instruction makes system calls */
#define QUIPU_INSIDE_CALL_END   (QUIPU_INSIDE + 2) /* behind that instruction */
#define QUIPU_INSIDE_EXIT       (QUIPU_INSIDE + 8) /* the jump behind a call that was made */
#define QUIPU_INSIDE_ENTER      (QUIPU_INSIDE + 16)
#define QUIPU_INSIDE_TRAMPOLINE 0x70004000 /* of site 0 */
#define QUIPU_INSIDE_DATA       0x70010000 /* from here on it can be written */
#define QUIPU_INSIDE_STATE      QUIPU_INSIDE_DATA
#define QUIPU_INSIDE_ROWS       0x70011000
#define QUIPU_INSIDE_STACK_END  0x7001a000
#define QUIPU_INSIDE_LOG        0x7001a000
#define QUIPU_INSIDE_END        0x7005a000

/* Places in struct quipu_inside_state. */
#define QUIPU_INSIDE_SAVED_STACK (QUIPU_INSIDE_STATE + 0)
#define QUIPU_INSIDE_CONTINUE    (QUIPU_INSIDE_STATE + 8)
#define QUIPU_INSIDE_LEAVE       (QUIPU_INSIDE_STATE + 16)

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
    QUIPU_INSIDE_LOG_SIZE = QUIPU_INSIDE_END - QUIPU_INSIDE_LOG,
    QUIPU_INSIDE_ARGUMENTS = 6, /* number of an address that is in no argument */
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
};

/* Why calls are left to the recorder, each a bit of `left`. */
enum {
    QUIPU_LEFT_ALL = 1,
    QUIPU_LEFT_WRITES = 2, /* calls that may change files */
    QUIPU_LEFT_WAITS = 4,  /* calls that would wait, as other threads must execute meanwhile */
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
    uint32_t mode;        /* enum quipu_inside_mode */
    uint32_t left;        /* bits */
    uint32_t used;        /* bytes of the log with entries */
    uint32_t taken;       /* played: bytes of entries that were taken */
    uint32_t count;       /* of entries that were made or taken */
    uint32_t unused;
    uint64_t left_device;                 /* files of it are left: that of processes */
    uint64_t clocks[QUIPU_INSIDE_CLOCKS]; /* the kernel's functions; 0: system calls are made */
    uint8_t descriptors[QUIPU_INSIDE_DESCRIPTORS]; /* enum quipu_inside_descriptor */
    uint8_t streams[QUIPU_INSIDE_DESCRIPTORS];     /* not 0: not used inside */
};

/* What the code has pushed, at its place in the memory: the program's registers. */
struct quipu_inside_frame {
    uint64_t rax, rcx, rdx, rbx, rbp, rsi, rdi, r8, r9, r10, r12, r13, r14, r15, flags, unused;
};

#define QUIPU_INSIDE_FRAME (QUIPU_INSIDE_STACK_END - sizeof(struct quipu_inside_frame))

/* An entry of the log, a multiple of 8 bytes, followed by its pieces. */
struct quipu_inside_entry {
    uint32_t size; /* with its pieces */
    uint16_t number, pieces;
    uint32_t hash; /* as in QUIPU_EVENT_CALL */
    uint32_t unused;
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

_Static_assert(sizeof(struct quipu_inside_state) <= QUIPU_INSIDE_ROWS - QUIPU_INSIDE_STATE, "");
_Static_assert(sizeof(struct quipu_inside_rows) <= QUIPU_INSIDE_TABLE - QUIPU_INSIDE_ROWS, "");
_Static_assert(sizeof(struct quipu_inside_site) * QUIPU_INSIDE_SITES + 0x2000 <=
                   QUIPU_INSIDE_STACK_END - QUIPU_INSIDE_TABLE,
               "the stack has two pages");

#endif
#endif

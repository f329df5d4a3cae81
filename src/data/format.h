/* format.h: the one contract that shim, runtime and readers share.
 *
 * Three things are laid down here:
 *   1. the data file, which the runtime maps and the program's own instructions fill,
 *   2. the notes that the shim leaves in the binary, from which readers solve the counts,
 *   3. the registers and symbols by which inserted code and runtime meet.
 *
 * All numbers are little endian.  Did you change a format?  Bump its version.
 * doc/format.md tells the same for authors of other tools. */
#ifndef QUIPU_DATA_FORMAT_H
#define QUIPU_DATA_FORMAT_H

#include <stdint.h>

/* ---- 1. The data file: one a process ---------------------------------------------------------
 *
 * A header page, then chunks, each beginning on a page boundary, one behind the other up to
 * `size`.  The file may be longer than `size`.  It is true at every instant: cells are changed by
 * the program's own instructions through a shared mapping, and `size` grows only after the chunk
 * below it is complete.  Readers take no lock.
 *
 *     offset 0     struct quipu_file
 *     4096         struct quipu_module   (kind QUIPU_MODULE): an executable or shared object
 *     ...          struct quipu_blocks   (kind QUIPU_BLOCKS): cells of some threads in one module
 *     ...          struct quipu_contexts (kind QUIPU_CONTEXTS): nodes of a thread's calling context
 *                                         tree
 */

#define QUIPU_FILE_MAGIC                                                                           \
    "\211quipu\r\n" /* 8 bytes; the first is no text, the last two show a text copy */

enum {
    QUIPU_FILE_VERSION = 1,
    QUIPU_PAGE = 4096,
    QUIPU_BUILD_ID_MAX = 32,
};

struct quipu_file {
    uint8_t magic[8];     /*    0  QUIPU_FILE_MAGIC without its NUL */
    uint32_t version;     /*    8  QUIPU_FILE_VERSION */
    uint32_t header_size; /*   12  QUIPU_PAGE */
    uint64_t size;        /*   16  bytes in use, header and whole chunks */
    uint32_t lock;        /*   24  futex: 0 free, 1 held, 2 held and waited for; writers only */
    uint32_t flags;       /*   28  QUIPU_FILE_... */
    uint32_t pid;         /*   32  process that wrote it; 0 in a merged file */
    uint32_t parent_pid;  /*   36 */
    uint8_t image[16];    /*   40  the kernel's AT_RANDOM bytes: one value per exec, so (pid, image)
                                   names a process image */
    uint64_t start_time;  /*   56  nanoseconds since 1970, when the file was made */
    uint64_t contexts;    /*   64  where the writer keeps its threads' trees; means nothing to
                                   others */
    uint8_t reserved[56]; /*   72  zero */
    char program[1920];   /*  128  absolute path of the program, NUL-terminated */
    char command[2048];   /* 2048  its arguments, each NUL-terminated, then zeros; cut where it is
                                   too long, so always ends in two NULs */
};

enum {
    QUIPU_FILE_MERGED = 1,     /* made by 'quipu merge': the sum of other files */
    QUIPU_FILE_INCOMPLETE = 2, /* the runtime could not keep some counts, and has said so */
};

enum quipu_chunk_kind {
    QUIPU_MODULE = 1,
    QUIPU_BLOCKS = 2,
    QUIPU_CONTEXTS = 3,
};

struct quipu_chunk {
    uint32_t kind; /*  0  enum quipu_chunk_kind; readers pass over kinds that they do not know */
    uint32_t reserved; /*  4  zero */
    uint64_t size;     /*  8  bytes, this header included; a multiple of QUIPU_PAGE */
};

/* Modules are numbered 0, 1, ... in the order of their chunks. */
struct quipu_module {
    struct quipu_chunk chunk;
    uint64_t cells_address;               /*  16  address of the first cell as linked (before the
                                                  loader moved the module) */
    uint64_t cells_size;                  /*  24  bytes of cells of one thread; a multiple of 8 */
    uint64_t load_bias;                   /*  32  where the module ran, minus where it was linked */
    uint32_t build_id_size;               /*  40  0: the binary has none */
    uint8_t build_id[QUIPU_BUILD_ID_MAX]; /*  44 */
    uint32_t reserved;                    /*  76  zero */
    char path[QUIPU_PAGE - 80];           /*  80  absolute where it could be told, NUL-terminated */
};

/* A slot holds the cells of one thread at a time; a finished thread's slot is handed to the next
 * thread of the process, and counts add up. */
#define QUIPU_OWNER_UNKNOWN ((uint32_t)1 << 31)

struct quipu_slot {
    uint32_t owner;    /*  0  thread id of its last or present owner; 0: never owned;
                              QUIPU_OWNER_UNKNOWN: attached in a vfork child */
    uint32_t threads;  /*  4  how many threads have owned it */
    uint64_t reserved; /*  8  zero */
};

struct quipu_blocks {
    struct quipu_chunk chunk;
    uint32_t module;     /* 16  number of the module */
    uint32_t slot_count; /* 20 */
    uint64_t slot_size; /* 24  bytes from one slot's cells to the next one's; at least cells_size */
    uint64_t
        cells_offset; /* 32  from the chunk's start to the first slot's cells; a multiple of 64 */
    struct quipu_slot slots[]; /* 40 */
};

/* The calling context tree of a thread (--quipu=calls).  A node is a way from the thread's begin to
 * a function, by call sites.  Node 0 is the root, all of the thread; it has no site and no callee.
 * Where a callee is entered from a site from which it was entered on the way to here, the call is
 * counted there, and the innermost node is entered once more; so recursion makes no path longer,
 * and nodes of one site and callee are never active at a time: their instructions add up.
 *
 * Instructions of an activation are those from its first to its return, or jump to another
 * function, included; the call is the caller's.  INCLUSIVE is a sum over activations that none of
 * the same node surrounds, modulo 1 << 64: of one that runs, minus what the thread had counted at
 * its begin.  A thread begins with 1, so a node of which one runs is below zero, and no other is.
 * To it, add what the thread has counted now: events_base + the QUIPU_CALL_LANES cells of the file
 * at events_cell, which are exact as events' cells are: while no instrumented code of the thread is
 * in progress but in a call.  Addresses are those of the run: of one in a module, take off its
 * load_bias; addresses in no module are of code that is not instrumented.
 *
 * A tree has one chunk or more, of rising first_index.  The trees of threads that are gone are
 * handed to new ones.  Only the thread itself changes its tree, but for the activations of a thread
 * that is gone, which are ended by the one that takes over its cells. */
struct quipu_context {
    uint32_t parent;       /*  0  1 + index of the node that it was entered from; 0: the root */
    uint32_t reserved;     /*  4  zero */
    uint64_t site;         /*  8  address of the instruction behind the call: what the callee
                                  returns to, so behind jumps between functions the first call's */
    uint64_t callee;       /* 16  address of the function's entry */
    uint64_t calls;        /* 24  how often it was entered, recursion included */
    uint64_t inclusive;    /* 32  instructions, its callees' included; below zero: see above */
    uint32_t first_child;  /* 40  1 + index; 0: none */
    uint32_t next_sibling; /* 44  1 + index; 0: none */
    uint64_t exclusive;    /* 48  of these, its own; only in trees that say so in their flags */
    uint64_t reserved2;    /* 56  zero */
};

enum quipu_contexts_flags {
    QUIPU_CONTEXTS_MERGED = 1, /* there was no room: some calls were not told from their callers */
    QUIPU_CONTEXTS_EXCLUSIVE = 2, /* nodes have exclusive counts: a tree of 'quipu merge' */
    QUIPU_CONTEXTS_COPIED = 4,    /* a process that no handler of fork's heard of had the tree, too,
                                     until it came to a way that it did not know */
};

struct quipu_contexts {
    struct quipu_chunk chunk;
    uint32_t owner;               /* 16  thread id of the last or present owner */
    uint32_t count;               /* 20  nodes of this chunk in use */
    uint32_t capacity;            /* 24  nodes of this chunk */
    uint32_t flags;               /* 28  QUIPU_CONTEXTS_..., in the tree's first chunk */
    uint64_t thread;              /* 32  number of the tree in the process: 1, 2, ... */
    uint64_t first_index;         /* 40  index in the tree of this chunk's first node */
    uint64_t events_base;         /* 48  in the tree's first chunk: see above */
    uint64_t events_cell;         /* 56  in the tree's first chunk: offset in the file; 0: none */
    struct quipu_context nodes[]; /* 64 */
};

/* ---- 2. Notes in the binary ---------------------------------------------------------------------
 *
 * Two sections that are not loaded, so they cost the running program nothing; `strip` keeps them.
 * Each is a sequence of records, one behind the other with no padding, each led by its size.
 *
 * QUIPU_UNITS_SECTION: one record for each assembled unit:
 *     u32 size; u8 kind = QUIPU_NOTE_UNIT; u8 version
 *     asciz quipu's version, asciz source file (`.file`), asciz compiler (`.ident`, may be empty),
 *     asciz options ("count,placement=tree")
 * and, of a unit that counts events,
 *     u32 size; u8 kind = QUIPU_NOTE_EVENTS; u8 version
 *     u64 cells           address of the module's first cell of events (section 3), as linked
 *     u32 kinds           bit n: the unit counts kind n (enum quipu_event); then for each from
 *                         QUIPU_EVENT_CLASSES on, by rising number:
 *         asciz name, asciz pattern
 *
 * QUIPU_FUNCTIONS_SECTION: one record for each function.  It follows its function (COMDAT group,
 * link order), so a function that the linker drops takes its record along.
 *     u32 size; u8 kind = QUIPU_NOTE_FUNCTION; u8 version
 *     u64 address         of its entry, as linked
 *     u64 cells           address of its first cell, as linked
 *     asciz name          the symbol
 *     uleb fragments      then for each: u64 address as linked   (fragment 0 holds the entry; a
 *                         further one is `f.cold` or another piece)
 *     uleb blocks         then for each block, in the order of the original text:
 *         u8 flags            QUIPU_BLOCK_...
 *         uleb fragment
 *         uleb offset         of its first instruction in the fragment as the compiler made it
 *         uleb size           in bytes, as the compiler made it
 *         uleb cell           0: none; n: cell n - 1 counts the block
 *         code block:         u32 start: distance of its first instruction from the fragment's
 *                             address in this binary.  Its instructions stand there without a gap
 *                             and without an inserted one, the same as the compiler made them,
 *                             but a jump at its end may be longer; so: decode instructions until
 *                             `size` bytes are used up; a direct jump takes up all that is left.
 *         copy (QUIPU_BLOCK_COPY): after the flags only uleb block, of which it is a copy (0 is the
 *                             first), and uleb cell.  The shim doubles small loops; readers add
 *                             the counts of a copy, and of its edges, to the block's.  Copies come
 *                             behind all other blocks.
 *         padding block:      `size` bytes: no-operations that the assembler put before an aligned
 *                             label.  They run in the original, on the way into the next block; in
 *                             this binary the padding differs and is nobody's.
 *     uleb hubs           number of hubs (below)
 *     uleb edges          then for each: uleb source, uleb target, u8 kind (enum quipu_edge_kind),
 *                         uleb cell (0: none; n: cell n - 1 counts the edge)
 *   Ends of edges: 0 is the outside (caller, callee that did not return, unwinder, other function);
 *   1 ... blocks are the blocks; blocks + 1 ... are the hubs.  A hub stands between indirect jumps
 *   and their possible targets: any source may go to any target.
 *
 *     u32 size; u8 kind = QUIPU_NOTE_LEFT_ALONE; u8 version
 *     u64 address, asciz name, asciz reason          a function that was left as it is
 *
 * Flow: let every block be two nodes, in and out, joined by an arc from in to out that the block's
 * cell counts, if it has one; let edge s -> t be an arc from s's out to t's in; the outside and
 * each hub are one node.  What flows into a node flows out of it.  The arcs without a cell form a
 * spanning forest, so they follow from the others, by leaves.
 * A QUIPU_EDGE_CALL_LOST flow is calls that have not returned; in a forked child, or after setjmp
 * returned again, it is negative: returned without having been called here. */

#define QUIPU_UNITS_SECTION     ".quipu.units"
#define QUIPU_FUNCTIONS_SECTION ".quipu.functions"
#define QUIPU_CELLS_SECTION     ".quipu.cells"

enum {
    QUIPU_NOTE_VERSION = 3
};

enum quipu_note_kind {
    QUIPU_NOTE_UNIT = 1,
    QUIPU_NOTE_FUNCTION = 2,
    QUIPU_NOTE_LEFT_ALONE = 3,
    QUIPU_NOTE_EVENTS = 4,
};

enum quipu_block_flags {
    QUIPU_BLOCK_PADDING = 1, /* no-operations of the assembler's; bytes are in the note */
    QUIPU_BLOCK_COPY = 2,    /* a copy of another block's code */
    QUIPU_BLOCK_TURNED = 4,  /* the conditional jump at its end has the opposite condition here */
};

enum quipu_edge_kind {
    QUIPU_EDGE_ENTRY = 1,     /* outside -> block: called or jumped to from elsewhere */
    QUIPU_EDGE_PAD = 2,       /* outside -> block: landing pad, or another way in that is no call */
    QUIPU_EDGE_FALL = 3,      /* into the block behind, unconditional */
    QUIPU_EDGE_JUMP = 4,      /* direct jump, unconditional */
    QUIPU_EDGE_TAKEN = 5,     /* conditional jump taken */
    QUIPU_EDGE_NOT_TAKEN = 6, /* conditional jump not taken */
    QUIPU_EDGE_INDIRECT = 7,  /* to or from a hub, or an indirect jump with one known table */
    QUIPU_EDGE_CALL = 8,      /* call block -> the block behind it: the call returned */
    QUIPU_EDGE_CALL_LOST = 9, /* call block -> outside: the call did not return */
    QUIPU_EDGE_RETURN = 10,   /* block -> outside: return */
    QUIPU_EDGE_TAIL = 11,     /* block -> outside: jump to another function */
    QUIPU_EDGE_STOP = 12,     /* block -> outside: trap, or text that ends */
};

/* ---- 3. Where inserted code and runtime meet
 * ------------------------------------------------------
 *
 * A module's cells lie in QUIPU_CELLS_SECTION, zero-filled and never loaded from the file, between
 * the hidden symbols quipu_cells_begin and quipu_cells_end (first and last object of the link). The
 * former begins a page; one page in front of it and the rest of the last one are kept free, so that
 * a chunk of the file can be mapped there.  A thread's own cells are a copy with the same layout at
 * cell + quipu_bias.
 *
 * In executables the base of %gs is the same distance, and 0 in the first thread and where a
 * process has no file (yet):
 *
 *     cmpb $0, %fs:quipu_bias@tpoff+7        where code is entered from elsewhere
 *     js   slow                              a thread that has no cells yet: quipu_bias is 1 << 63
 *     incq %gs:cells_of_function+8*(N-1)(%rip)   N-th cell of the function
 *   slow: leaq -128(%rsp), %rsp; call quipu_attach_segment; leaq 128(%rsp), %rsp; jmp back
 *
 * In shared objects:
 *
 *     movq quipu_bias@gottpoff(%rip), %r11; movq %fs:(%r11), %r11
 *     addq cells_of_function+QUIPU_BIAS@GOTPCREL(%rip), %r11
 *     js   slow
 *     incq 8*N-QUIPU_BIAS(%r11)
 *   slow: leaq -128(%rsp), %rsp; call quipu_attach; leaq 128(%rsp), %rsp; jmp back
 *
 * quipu_attach_segment keeps every register, but flags.  quipu_attach gets in %r11 the sum above,
 * returns in %r11 the sum with the thread's distance, and keeps the others.  Both are entered with
 * any stack alignment.  Where there is no file (yet, or none could be made) the distance is 0, and
 * the static cells are used; what they hold when the file comes is added to the first thread's
 * slot. */

#define QUIPU_NOTES_SECTION ".note.quipu" /* loaded: an ELF note named "quipu", ... */

enum {
    QUIPU_PLACE_NOTE = 2,  /* ... of this type: i32 distances from themselves to quipu_cells_begin
                              and quipu_cells_end */
    QUIPU_TABLES_NOTE = 3, /* ... or of this one: the same to the begin of the page that nobody has
                              behind the cells, and to begin and end of kinds, ranges, sites,
                              tests and waits (sections 3 and 4, data/watch_format.h) */
};

enum {
    QUIPU_BIAS = 128
}; /* so that one-byte displacements reach 32 cells */

/* Where a unit counts events, it brings quipu_event_cells, a group of its own that the linker keeps
 * once for each module: for each kind quipu_lanes cells, from quipu_first_cell on, whose sum is the
 * count; quipu_event_middle is QUIPU_BIAS behind the first.  Inserted code adds constants to them.
 * One cell would do, but each addition to it would wait for the one before. */
enum {
    QUIPU_MANY_LANES = 128, /* of instructions and ticks, which most ask for ... */
    QUIPU_FEW_LANES = 16,   /* ... and of all others */
    QUIPU_CALL_LANES = 4,   /* the first ones, which instructions are in with --quipu=calls */
};

enum quipu_event {
    QUIPU_EVENT_INSTRUCTIONS,
    QUIPU_EVENT_BLOCKS,             /* basic blocks */
    QUIPU_EVENT_BRANCHES,           /* conditional jumps */
    QUIPU_EVENT_BRANCHES_TAKEN,     /* of those */
    QUIPU_EVENT_BRANCHES_NOT_TAKEN, /* of those */
    QUIPU_EVENT_CALLS,
    QUIPU_EVENT_RETURNS,
    QUIPU_EVENT_LOADS,          /* operands read from memory */
    QUIPU_EVENT_STORES,         /* operands written to memory */
    QUIPU_EVENT_BYTES_LOADED,   /* by those loads */
    QUIPU_EVENT_BYTES_STORED,   /* by those stores */
    QUIPU_EVENT_FLOATING_POINT, /* instructions that compute in floating point */
    QUIPU_EVENT_VECTOR,         /* instructions on vectors of several elements */
    QUIPU_EVENT_ATOMIC,         /* locked instructions */
    QUIPU_EVENT_TICKS,          /* the software instruction counter */
    QUIPU_EVENT_CLASSES = 16,   /* the first of the user's own, in the order of their options */
    QUIPU_EVENTS = 32,
};

static inline uint32_t quipu_lanes(uint32_t kind) {
    return kind == QUIPU_EVENT_INSTRUCTIONS || kind == QUIPU_EVENT_TICKS ? QUIPU_MANY_LANES
                                                                         : QUIPU_FEW_LANES;
}

static inline uint32_t quipu_first_cell(uint32_t kind) {
    uint32_t many = (kind > QUIPU_EVENT_INSTRUCTIONS) + (kind > QUIPU_EVENT_TICKS);
    return QUIPU_FEW_LANES * kind + (QUIPU_MANY_LANES - QUIPU_FEW_LANES) * many;
}

/* Bytes of quipu_event_cells.  Behind the cells stands what the runtime keeps for signal handlers
 * and for countdowns (runtime/event.h); these offsets are for readers and debuggers. */
enum {
    QUIPU_EVENT_CELLS = 2 * QUIPU_MANY_LANES + QUIPU_FEW_LANES * (QUIPU_EVENTS - 2),
    QUIPU_EVENT_EARLIER = 8 * QUIPU_EVENT_CELLS, /* by kind: what threads that are gone counted */
    QUIPU_EVENT_BEGIN =
        QUIPU_EVENT_EARLIER + 8 * QUIPU_EVENTS,  /* the same of ticks, with the base */
    QUIPU_EVENT_BASE = QUIPU_EVENT_BEGIN + 8,    /* what the cells of ticks lack (below) */
    QUIPU_EVENT_THREAD = QUIPU_EVENT_BEGIN + 16, /* number of the thread: 1, 2, ... as they come */
    QUIPU_EVENT_GOAL = QUIPU_EVENT_BEGIN + 24, /* a debugger's: quipu_moment_near is called then */
    QUIPU_EVENT_ALARMS = 16,
    QUIPU_EVENT_SNAPSHOTS = 8,
    QUIPU_EVENT_BLOCK = QUIPU_EVENT_BEGIN + 32 + 24 * QUIPU_EVENT_ALARMS + 8 +
                        QUIPU_EVENT_SNAPSHOTS * (8 + 8 * QUIPU_EVENTS)
};

/* The cells of ticks are countdowns: they are negative until they have ended, and the sum of them
 * and the base is what has been counted (modulo 1 << 64).  Behind each addition to one that is
 * above zero, in code for shared objects, stands
 *
 *     jns slow
 *   slow: leaq -128(%rsp), %rsp; call quipu_end_countdown; leaq 128(%rsp), %rsp; {disp32} jmp back
 *
 * where quipu_end_countdown keeps every register and the flags, and finds the place by that jump.
 *
 * In executables additions have no test until somebody waits.  Who does has a jump put over each,
 * to code that adds and tests:
 *
 *   place: addq $N, %gs:cell(%rip)              to be: the prefix, jmp code, no-operations
 *   back:
 *   code:  addq $N, %gs:cell(%rip); {disp32} js back
 *          leaq -128(%rsp), %rsp; call quipu_end_countdown; leaq 128(%rsp), %rsp; {disp32} jmp back
 *
 * QUIPU_TESTS_SECTION has a row for each, between the hidden symbols quipu_tests_begin and
 * quipu_tests_end.
 *
 * A program that may call quipu_after has a byte for each call in the section .quipu.waits, between
 * the hidden symbols quipu_waits_begin and quipu_waits_end, made by include/quipu.h: then the
 * runtime puts the tests in, before any other constructor. */
#define QUIPU_TESTS_SECTION ".quipu.tests"
#define QUIPU_WAITS_SECTION ".quipu.waits"

struct quipu_test {
    int32_t place; /* 0  of the addition, from the address of this field */
    int32_t code;  /* 4  the same, of the code */
    int32_t back;  /* 8  and of what stands behind the addition */
};

enum {
    QUIPU_TEST_JUMP = 1, /* offset of the jump: a debugger may have its breakpoint in front of it */
    QUIPU_TEST_LEAST = 8, /* bytes of an addition */
    QUIPU_TEST_MOST = 12,
};

#define QUIPU_UNATTACHED ((uint64_t)1 << 63)

/* ---- 4. Event counts at any instruction ---------------------------------------------------------
 *
 * Four sections that are loaded and need no relocation.  Where a module has no instruction of its
 * own in progress (its threads are in other code, or in calls of it), cells are exact; elsewhere
 * the tables tell what has happened above what the cells hold.
 *
 * QUIPU_RANGES_SECTION: struct quipu_range for each fragment of each function, in no order, between
 * the hidden symbols quipu_ranges_begin and quipu_ranges_end.
 * QUIPU_QUERIES_SECTION: the tables, each on a multiple of 4:
 *     u32 kinds           bit n: kind n (enum quipu_event) is counted here
 *     i32 weights         distance from this field to the unit's weights
 *     u32 anchors         then for each, in no order:
 *         u32 start           its distance from the fragment's start
 *         sum for each kind, by rising number: uleb of 0, -1, 1, -2, ... (zigzag)
 *         uleb instructions   of the original, which follow without a gap.  In a table with
 *                             QUIPU_QUERY_TURNS twice that, plus 1 where turns follow:
 *             turns for each kind: what is added as often as %rcx tells, zigzag
 *         for each instruction:
 *             u8                  size in the low half; the high half is the number of its
 *                                 weights, or QUIPU_QUERY_ESCAPE: then uleb number
 * QUIPU_WEIGHTS_SECTION: vectors of u16, one for each of the table's kinds.
 * QUIPU_KINDS_SECTION: between the hidden symbols quipu_kinds_begin and quipu_kinds_end, for each
 * unit and kind that it counts:
 *     u8 kind; asciz name; asciz pattern (of the user's own classes, else empty)
 *
 * At an address, find the anchor with the highest start that is not above it.  What has happened is
 * its sums, and the weights of those of its instructions that begin below the address. */

#define QUIPU_RANGES_SECTION  ".quipu.ranges"
#define QUIPU_QUERIES_SECTION ".quipu.queries"
#define QUIPU_WEIGHTS_SECTION ".quipu.weights"
#define QUIPU_KINDS_SECTION   ".quipu.kinds"

struct quipu_range {
    int32_t start; /*  0  of the code, from the address of this field */
    uint32_t size; /*  4  bytes of code */
    int32_t table; /*  8  of the table, from the address of this field */
    int32_t name;  /* 12  of the fragment's name, asciz, from the address of this field; 0:
                          none, where ticks are not counted */
};

enum {
    QUIPU_QUERY_ESCAPE = 15
};

/* In a table's number of anchors. */
#define QUIPU_QUERY_TURNS 0x80000000u

#endif

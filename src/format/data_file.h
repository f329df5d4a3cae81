/* data_file.h: the data file of a process. The runtime maps it, and the program's own instructions
 * fill it.
 *
 * All numbers are little endian. Did you change the format? Increment QUIPU_FILE_VERSION.
 * doc/format.md describes it for authors of other tools. */
#ifndef QUIPU_FORMAT_DATA_FILE_H
#define QUIPU_FORMAT_DATA_FILE_H

#include <stdint.h>

/* A header page, then chunks without gaps up to `size`. Each chunk begins on a page boundary. The
 * file may be longer than `size`. It is valid at every instant: the program's own instructions
 * change the cells through a shared mapping, and `size` grows only when the chunk below it is
 * complete. Readers take no lock.
 *
 *     offset 0     struct quipu_file
 *     4096         struct quipu_module     kind QUIPU_MODULE: an executable or shared object
 *     ...          struct quipu_load       kind QUIPU_LOAD: an address at which a module was
 *     ...          struct quipu_blocks     kind QUIPU_BLOCKS: cells of some threads in one module
 *     ...          struct quipu_call_tree  kind QUIPU_CALL_TREE: nodes of a calling context tree */

#define QUIPU_FILE_MAGIC                                                                           \
    "\211quipu\r\n" /* 8 bytes; the first is not text, and a copy as text changes the last two */

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
    uint32_t lock;        /*   24  futex: 0 free, 1 held, 2 held and waited for; for writers */
    uint32_t flags;       /*   28  QUIPU_FILE_... */
    uint32_t pid;         /*   32  process that wrote it; 0 in a merged file */
    uint32_t parent_pid;  /*   36 */
    uint8_t image[16];    /*   40  the kernel's AT_RANDOM bytes: other ones for each exec, the same
                                   ones in forked children */
    uint64_t start_time;  /*   56  nanoseconds since 1970, when the file was made */
    uint64_t contexts;    /*   64  address of the writer's list of trees; readers do not use it */
    uint64_t mark;        /*   72  address of the writer's mark; readers do not use it. 0: written
                                   by a runtime without marks */
    uint64_t openings;    /*   80  how many modules have started so far; readers do not use it */
    uint32_t rank;        /*   88  in a run of MPI, plus 1; 0: none */
    uint8_t reserved[4];  /*   92  zero */
    uint64_t orders;      /*   96  address of the writer's sorted ranges; readers do not use it */
    uint64_t
        processes; /*  104  of which a merged file is the sum; 0: not recorded, or not merged */
    uint8_t reserved_too[16]; /*  112  zero */
    char program[1920];       /*  128  absolute path of the program, NUL-terminated */
    char command[2048]; /* 2048  its arguments, each NUL-terminated, then zeros; truncated if too
                                 long, so always ends in two NULs */
};

enum {
    QUIPU_FILE_MERGED = 1,     /* made by 'quipu merge': the sum of other files */
    QUIPU_FILE_INCOMPLETE = 2, /* the runtime has lost some counts, and has warned of it */
    QUIPU_FILE_MIXED = 4,      /* merged from runs of several programs */
};

enum quipu_chunk_kind {
    QUIPU_MODULE = 1,
    QUIPU_BLOCKS = 2,
    QUIPU_CALL_TREE = 3,
    QUIPU_LOAD = 4,
};

struct quipu_chunk {
    uint32_t kind;     /*  0  enum quipu_chunk_kind; readers skip unknown kinds */
    uint32_t reserved; /*  4  zero */
    uint64_t size;     /*  8  bytes, including this header; a multiple of QUIPU_PAGE */
};

/* Modules are numbered 0, 1, ... in the order of their chunks. A shared object that is closed and
 * loaded again stays one module, with the load bias of its last load. */
struct quipu_module {
    struct quipu_chunk chunk;
    uint64_t cells_address;               /*  16  address of the first cell, as linked */
    uint64_t cells_size;                  /*  24  bytes of cells of one thread; a multiple of 8 */
    uint64_t load_bias;                   /*  32  load address minus link address */
    uint32_t build_id_size;               /*  40  0: the binary has none */
    uint8_t build_id[QUIPU_BUILD_ID_MAX]; /*  44 */
    uint32_t reserved;                    /*  76  zero */
    char path[QUIPU_PAGE - 80];           /*  80  absolute if known, NUL-terminated */
};

/* A load of a module that was at several addresses. Its loads are numbered 0, 1, ... in the order
 * of these chunks. If it has none, all of them were at its load bias, and have number 0. */
struct quipu_load {
    struct quipu_chunk chunk;
    uint32_t module;    /* 16  number of the module */
    uint32_t reserved;  /* 20  zero */
    uint64_t load_bias; /* 24 */
    uint8_t zero[QUIPU_PAGE - 32];
};

/* A load of a module. Not 0. */
#define QUIPU_LOAD_MARK(module, load) ((uint32_t)(module) + 1 + ((uint32_t)(load) << 24))
#define QUIPU_LOAD_MARK_MODULE(mark)  (((mark)&0xffffff) - 1)
#define QUIPU_LOAD_MARK_NUMBER(mark)  ((mark) >> 24)
#define QUIPU_LOADS_MAX               256

/* A slot holds the cells of one thread at a time. When the thread has ended, another thread of the
 * process gets the slot, and continues its counts. */
#define QUIPU_OWNER_UNKNOWN ((uint32_t)1 << 31)

struct quipu_slot {
    uint32_t owner;    /*  0  thread id of the present or last owner; 0: never owned;
                              QUIPU_OWNER_UNKNOWN: attached in a vfork child */
    uint32_t threads;  /*  4  number of threads that have owned it */
    uint64_t reserved; /*  8  zero */
};

struct quipu_blocks {
    struct quipu_chunk chunk;
    uint32_t module;       /* 16  number of the module */
    uint32_t slot_count;   /* 20 */
    uint64_t slot_size;    /* 24  from one slot's cells to the next one's; at least cells_size */
    uint64_t cells_offset; /* 32  first slot's cells, from the chunk's start; a multiple of 64 */
    struct quipu_slot slots[]; /* 40 */
};

#endif

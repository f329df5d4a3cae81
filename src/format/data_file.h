/* data_file.h: the file that a process leaves: the runtime maps it, and the program's own
 * instructions fill it.
 *
 * All numbers are little endian.  Who changes it gives it a new QUIPU_FILE_VERSION.  doc/format.md
 * says the same to authors of other tools. */
#ifndef QUIPU_FORMAT_DATA_FILE_H
#define QUIPU_FORMAT_DATA_FILE_H

#include <stdint.h>

/* A header page, then chunks, each beginning on a page boundary, one behind the other up to
 * `size`.  The file may be longer than `size`.  It is true at every instant: cells are changed by
 * the program's own instructions through a shared mapping, and `size` grows only after the chunk
 * below it is complete.  Readers take no lock.
 *
 *     offset 0     struct quipu_file
 *     4096         struct quipu_module   (kind QUIPU_MODULE): an executable or shared object
 *     ...          struct quipu_blocks   (kind QUIPU_BLOCKS): cells of some threads in one module
 *     ...          struct quipu_call_tree (kind QUIPU_CALL_TREE): nodes of a thread's calling
 * context tree
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
    QUIPU_CALL_TREE = 3,
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

#endif

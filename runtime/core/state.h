/* state.h: the state of the runtime of one module, and the functions that its files share.
 *
 * Every instrumented executable and shared object has its own copy of the runtime, with all symbols
 * hidden. The copies of one process share the data file. Its header, with the lock, is mapped once
 * and never unmapped. So it outlives the module that made the file.
 *
 * Invariants
 *   - `phase` changes once, from PHASE_NEW, in the constructor. In a forked child it may change
 *     from PHASE_READY to PHASE_NO_FILE, before the child runs code of its own.
 *   - In PHASE_READY `file` is the mapped header of this process's data file, module_number and
 *     path are valid, and blocks[0 .. block_count) are mapped chunks of this module.
 *   - `blocks`, `hand` and everything behind file->size change under the file's lock, with all
 *     signals blocked.
 *   - A slot has one living owner. Only the owner changes the cells of the slot.
 *   - The attach path calls no function of the C library, and uses less than 1 KiB of stack. */
#ifndef QUIPU_RUNTIME_CORE_STATE_H
#define QUIPU_RUNTIME_CORE_STATE_H

#include "runtime/core/section.h"

#include "format/cells.h"
#include "format/data_file.h"

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    QUIPU_STATE_VERSION = 2, /* of struct quipu_state; the note in begin.S contains it */
    BLOCKS_MAX = 32,         /* each chunk doubles the slots, so this is never reached */
    PATH_SIZE = 4096,
    NAME_SIZE = 256,
    PROGRAM_SIZE = 201, /* of the program's name in the file's name, with its NUL */
};

enum phase {
    PHASE_NEW,   /* the constructor has not run */
    PHASE_READY, /* there is a data file */
    /* there is no file and there will be none: code counts in the static cells, which no reader
     * sees */
    PHASE_NO_FILE,
};

/* Directly before the first cells of a chunk. It has the addresses at which the process that wrote
 * the file has mapped it. So a module that is closed and opened again finds its slots. */
struct quipu_place {
    uint64_t file;   /* address of the header */
    uint64_t blocks; /* address of the chunk */
    uint64_t offset; /* of the chunk in the file */
};

static inline struct quipu_place *quipu_place_of(const struct quipu_blocks *blocks) {
    return (void *)((uint64_t)blocks + blocks->cells_offset - sizeof(struct quipu_place));
}

struct quipu_state {
    uint32_t phase; /* enum phase */
    uint32_t pid;   /* process that the rest belongs to */
    struct quipu_file *file;
    struct quipu_blocks *blocks[BLOCKS_MAX];
    uint32_t block_count;
    uint32_t hand; /* slot at which the search for a dead owner continues */
    uint32_t module_number;
    uint32_t load_number; /* of the module's loads in the file */
    uint64_t opening;     /* this module was that one of the file's openings */
    uint32_t name_start;  /* begin of the file's name in path */
    int fd;               /* of the data file while it is being set up; otherwise 0 */
    uint64_t device;      /* of the data file */
    uint64_t inode;       /* of the data file */
    bool error_open;      /* descriptor 2 was open when the constructor ran ... */
    uint64_t error_file;  /* ... on this device ... */
    uint64_t error_inode; /* ... and inode */
    char path[PATH_SIZE]; /* of the data file; absolute */
    char program[PROGRAM_SIZE];
    struct quipu_module module;
    bool reserves; /* files must have no holes, however much room there is */
    void *trace;   /* trace/trace.c: what all modules of the process share; NULL: nothing yet */
    uint64_t bias; /* of this module; it is known if `trace` is not NULL */
    /* quipu_own_ticks; NULL: nothing counts ticks in this module, or `trace` is NULL */
    bool (*counter)(uint64_t *ticks, uint32_t *thread);
};

extern struct quipu_state quipu_state;
extern char quipu_cells_begin[], quipu_cells_end[];
extern uint64_t quipu_no_bias; /* 0 */

/* attach.S, if code counts: returns the address of the calling thread's quipu_bias. */
uint64_t *quipu_find_bias(void) __attribute__((weak));
WEAK_HERE(quipu_find_bias);

/* Returns the address of the calling thread's bias. */
static inline uint64_t *own_bias(void) {
    return IS_LINKED(quipu_find_bias) ? quipu_find_bias() : &quipu_no_bias;
}

/* segment.S, in executables only */
long quipu_set_segment(uint64_t base) __attribute__((weak));
WEAK_HERE(quipu_set_segment);

/* Sets the calling thread's bias. Returns 0, or the negative error number with the bias unchanged.
 * Signals must be blocked. */
static inline long set_distance(uint64_t distance) {
    long error = 0;
    if (IS_LINKED(quipu_set_segment))
        error = quipu_set_segment(distance == QUIPU_UNATTACHED ? 0 : distance);
    if (error == 0)
        *own_bias() = distance;
    return error;
}

static inline uint64_t quipu_cells_size(void) {
    return section_size(quipu_cells_begin, quipu_cells_end);
}

/* Everything that was added to the data file is complete up to SIZE. */
static inline void set_file_size(uint64_t size) {
    __atomic_store_n(&quipu_state.file->size, size, __ATOMIC_RELEASE);
}

static inline uint64_t round_up(uint64_t value, uint64_t multiple) {
    return (value + multiple - 1) / multiple * multiple;
}

/* handler.S: calls HANDLER(FIRST, ARGUMENT), and keeps the vector and x87 registers. Inserted code
 * may call the runtime while the program has values in them. */
void quipu_call_handler(uint64_t handler, const void *first, uint64_t argument);

/* start.c: the constructor, which begin.S refers to. */
void quipu_start(void);

/* moment/tests.c, if inserted code counts ticks: inserts the tests of countdowns if the program may
 * call quipu_after. */
void quipu_begin_tests(void) __attribute__((weak));
WEAK_HERE(quipu_begin_tests);

/* moment/moment.c, if inserted code counts ticks: sets the calling thread's ticks that are in its
 * cells, and its number; 0: the first one. Returns false if it has no cells. */
bool quipu_own_ticks(uint64_t *ticks, uint32_t *thread) __attribute__((weak));
WEAK_HERE(quipu_own_ticks);

/* trace/trace.c, if inserted code records a trace: the calling thread gets cells, and begins to
 * count ticks as this THREAD. */
void quipu_trace_count_thread(uint32_t thread) __attribute__((weak));
WEAK_HERE(quipu_trace_count_thread);

/* slot.c */
/* Gives the calling thread its cells and sets quipu_bias. Returns the bias, which is 0 if there is
 * no file. attach.S calls it. */
uint64_t quipu_attach_thread(void);
/* Gives the calling thread a slot. Returns the slot's cells, or NULL and sets *ERROR. The lock must
 * be held. */
char *quipu_take_slot(long *error);

/* Whether the thread OWNER of a slot has executed its last instruction. */
bool quipu_is_dead(uint32_t owner);

/* event/event.c */
/* A thread begins to count in CELLS of a slot, in which others may have counted before. */
void quipu_begin_events(char *cells);
/* Prepares the static cells to be added to those of a slot, whose countdown must not change. */
void quipu_fold_events(void);
/* They were added, and the countdown ends as much earlier. */
void quipu_add_early_events(void);

/* calls/thread.c, if inserted code records calls: the thread OWNER has ended, and another one gets
 * its cells. The lock must be held. */
void quipu_end_contexts(uint32_t owner) __attribute__((weak));
WEAK_HERE(quipu_end_contexts);
/* In a forked child whose module has its cells again, or has none: gives the thread a tree. */
void quipu_fork_contexts(void) __attribute__((weak));
WEAK_HERE(quipu_fork_contexts);

/* module.c */
/* For find_note (note.h): sets DATA, a const struct quipu_state **, if NOTE has the state of a
 * module. */
bool quipu_use_state(const ElfW(Nhdr) * note, const char *description, void *data);
/* Fills in state.module. Returns the state of another module that has a data file or knows that
 * there is none, or NULL. */
const struct quipu_state *quipu_find_modules(void);
/* Writes the absolute path of the program. */
void quipu_program_path(char *path, size_t size);

/* file.c: functions that can fail return the negative error number */
void quipu_lock(struct quipu_file *file);
void quipu_unlock(struct quipu_file *file);
struct naming; /* a data file that is being made */
/* Opens the process's data file in the directory at the begin of state.path, or makes one. Sets
 * state.fd, file, path, device and inode. If a header was mapped before, the new one replaces it at
 * the same address. */
long quipu_open_data(struct naming *naming);
/* Gives a file that was made its final name. Before, it is invisible to readers. */
long quipu_publish_data(struct naming *naming);
/* Closes what quipu_open_data has opened. Removes a file that has no final name. */
void quipu_close_data(struct naming *naming);
/* wanted.c: whether the process, which executes the file at the path PROGRAM, is to leave a file.
 */
bool quipu_wants_data(const char *program);
/* Replaces the header by a page that belongs to no file, for the flags in it. */
void quipu_drop_data(void);
/* Whether FILE is the header of a file. */
bool quipu_has_data(const struct quipu_file *file);
/* Whether this process has made the file with the header FILE, not one that it was forked from. */
bool quipu_is_marked(const struct quipu_file *file);
/* Opens the data file by its path. It must be the same file. Returns a descriptor above 2. */
long quipu_reopen_data(void);
/* Returns a descriptor of the data file, to extend it; and takes it back. */
long quipu_borrow_data(void);
void quipu_return_data(int fd);

struct naming {
    int directory;        /* descriptor; -1: none */
    bool fresh;           /* made, but without its final name yet */
    unsigned number;      /* PROGRAM.PID.NUMBER.quipu; 1 is left out */
    char name[NAME_SIZE]; /* final name */
    char temporary[NAME_SIZE];
};

/* chunk.c */
/* Makes the file FD contain LENGTH bytes from OFFSET on, so that no store into them fails. They are
 * allocated to the file, or the disk has plenty of room. */
long quipu_reserve(int fd, uint64_t offset, uint64_t length);
/* Finds this module in the file, with its slots, or adds it. The lock must be held, and state.fd
 * open. */
long quipu_enter_module(void);
/* Adds a chunk of COUNT slots. With CELLS, the first slot's cells are mapped at that address. They
 * must be the cells of a slot in the chunk OLD, which the new chunk replaces; or, without OLD, the
 * static cells. The lock must be held. */
long quipu_add_blocks(int fd, uint32_t count, char *cells, const struct quipu_blocks *old);
/* Adds the first chunk over the static cells if possible: in an executable, before anything was
 * counted. Otherwise quipu_add_blocks adds a chunk later. The lock must be held. */
void quipu_add_static_cells(void);
/* Whether BLOCKS is mapped over the static cells. */
bool quipu_has_static_cells(const struct quipu_blocks *blocks);
/* Maps SIZE bytes for cells at an address at which a thread can count. Returns like mmap. */
void *quipu_map_cells(uint64_t size, int flags, int fd, uint64_t offset);
/* Returns how many slots a new chunk gets while there are few. */
uint32_t quipu_first_count(void);
/* Returns the distance in bytes from one slot's cells to the next one's. */
uint64_t quipu_slot_size(void);

/* fork.c */
void quipu_follow_forks(void);

/* warn.c */
void quipu_remember_standard_error(void);
/* Warns once in a process that counts are missing:
 *     quipu: warning: cannot WHAT 'PATH': text of ERROR; CONSEQUENCE
 * PATH is the data file, or if DIRECTORY its directory. */
void quipu_warn(const char *what, bool directory, long error, const char *consequence);
/* Nothing that is lost is to be told: no data is wanted. */
void quipu_need_no_warning(void);

#endif

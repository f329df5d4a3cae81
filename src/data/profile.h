/* profile.h: a run as the readers see it: processes, modules, functions, counts.
 *
 * profile_open reads data files and the binaries that they name; profile_count solves the flow
 * equations for a choice of processes and threads and fills in every count.  Reports, annotations,
 * comparisons and exports use this header and nothing deeper. */
#ifndef QUIPU_DATA_PROFILE_H
#define QUIPU_DATA_PROFILE_H

#include "format/data_file.h"
#include "format/event.h"
#include "format/notes.h"
#include "util/arena.h"
#include "util/map.h"
#include "util/vector.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One instruction of the original function. */
struct instruction {
    uint64_t address; /* in the binary as linked; 0: alignment padding, which this binary has
                         elsewhere */
    uint32_t offset;  /* from the start of its fragment, as the compiler made it */
    uint8_t size;     /* bytes as the compiler made it */
    uint8_t fragment; /* 0: the function, 1...: f.cold or another piece */
    uint16_t file;    /* index into profile.files; 0: not known */
    uint32_t line;    /* 0: not known */
    uint32_t block;   /* index into function.blocks */
    uint32_t copy;    /* inlined call that it is part of, numbered from 1 in its function; 0: the
                         function's own, or not known */
    uint64_t count;   /* executions */
};

struct block {
    uint32_t first_instruction; /* index into function.instructions */
    uint32_t instruction_count;
    bool padding;
    bool turned;         /* in the binary its conditional jump has the opposite condition */
    uint32_t first_edge; /* index into function.edges of the edges that leave it */
    uint32_t edge_count;
    uint32_t jumped_over; /* of padding: that many instructions at its end stand behind a jump over
                             them and never run */
    const uint8_t *bytes; /* of padding: its code; NULL: the binary has it */
    int64_t count;        /* executions, never negative */
};

struct flow_edge {
    uint32_t source; /* 0: outside; 1...: block + 1; then the hubs */
    uint32_t target;
    enum quipu_edge_kind kind;
    int64_t count; /* traversals; may be negative for QUIPU_EDGE_CALL_LOST */
};

struct function {
    const char *name;      /* symbol, "main" */
    const char *demangled; /* "ns::f(int)"; the same as name where nothing is mangled */
    struct module *module;
    uint32_t file;       /* index into profile.files, of its first instruction; 0: not known */
    uint32_t line;       /* line of the declaration or of the first instruction; 0: not known */
    uint64_t address;    /* of the entry, as linked */
    uint64_t first_cell; /* index into the module's cells */
    uint32_t fragment_count;
    uint64_t *fragments; /* address of each fragment, as linked */
    struct block *blocks;
    size_t block_count;
    struct flow_edge *edges; /* by source */
    size_t edge_count;
    uint32_t hub_count;
    const struct flow *flow;          /* what counts are solved from: data/flow.h */
    struct instruction *instructions; /* in the order of the original text; its index is the
                                         instruction's ordinal */
    size_t instruction_count;
    /* filled in by profile_count */
    uint64_t calls;        /* times that it was entered */
    uint64_t executed;     /* instructions executed in it */
    size_t never_executed; /* instructions of it that never ran */
};

/* A function that was not instrumented. */
struct left_alone {
    const char *name;
    const char *reason;
    uint64_t address; /* as linked; 0: not told */
};

struct unit_note {
    const char *version, *source, *compiler, *options;
};

/* A function or line known to be called or inlined is the DWARF reader's business: see lines.h. */
struct binary; /* open ELF and DWARF handles: symbols/binary.h */

/* A class of events that the user made; see format/event.h. */
struct event_class {
    const char *name, *pattern; /* NULL: not counted */
    const char *source;         /* a unit that counts it */
};

struct module {
    const char *path;
    size_t number; /* index into profile.modules */
    uint8_t build_id[QUIPU_BUILD_ID_MAX];
    uint32_t build_id_size;
    uint64_t cells_address; /* as linked */
    uint64_t cell_count;
    uint64_t note_size;                       /* bytes of the notes in the binary */
    uint32_t event_kinds;                     /* bit n: kind n (enum quipu_event) is counted */
    uint64_t first_event;                     /* index into the module's cells: that of kind 0 */
    struct event_class classes[QUIPU_EVENTS]; /* by kind, from QUIPU_EVENT_CLASSES on */
    const char *class_conflict;        /* units that count other classes by one number, or NULL */
    uint64_t executed;                 /* instructions executed in it; filled in by profile_count */
    VECTOR(struct function) functions; /* by address */
    VECTOR(struct left_alone) left_alone;
    VECTOR(struct unit_note) units;
    struct binary *binary;
};

/* What the cells of events told of one slot. */
struct thread_events {
    uint64_t counts[QUIPU_EVENTS]; /* by kind */
    uint64_t begin, number;        /* of ticks: format/event.h, QUIPU_EVENT_BEGIN and _THREAD */
};

/* The cells of one slot. */
struct thread_cells {
    struct module *module;
    uint32_t module_number; /* index into the process's modules */
    uint32_t owner;         /* thread id, the last one */
    uint32_t threads;       /* how many threads have owned the slot */
    uint32_t slot;          /* ordinal of the slot in its process and module */
    uint64_t offset;        /* of module->cell_count cells in the data file; 0: it has none */
    const uint64_t *held;   /* a copy of them; NULL: they are read when they are needed */
    const struct thread_events *events; /* NULL: not read, or the module counts none */
};

struct data_file; /* data/datafile.h */

struct process {
    const struct data_file *data;
    const char *file;    /* path of the data file */
    const char *program; /* path */
    const char *command; /* arguments joined by blanks */
    uint32_t pid, parent_pid;
    uint64_t start_time; /* nanoseconds since 1970 */
    bool merged;
    bool incomplete;                     /* the runtime could not keep some counts */
    VECTOR(struct module *) modules;     /* a build may be there twice, by two paths */
    uint64_t *load_biases;               /* by module: where it ran, minus where it was linked */
    VECTOR(struct thread_cells) threads; /* one for each slot of each module */
};

/* A data file that counts for nothing. */
struct left_out {
    const char *file, *reason;
};

struct profile {
    struct arena arena;
    VECTOR(struct process) processes;
    VECTOR(struct module *) modules;  /* one for each build that any process ran */
    VECTOR(const char *) files;       /* source files by index; 0 is "" */
    struct map file_numbers;          /* index of files by name */
    uint64_t executed;                /* instructions executed, of all functions */
    VECTOR(struct left_out) left_out; /* data files that were found, and are not in it */
};

/* Which counts to add up. */
struct selection {
    const struct process *process; /* NULL: all */
    uint32_t owner;                /* thread id; 0: all */
};

/* Called while a profile is opened and counted, in several parts: of one, WHAT is read, DONE of
 * TOTAL steps are done, which are as good as equal; it begins with 0 and ends with TOTAL.  NULL:
 * nobody is told. */
extern void (*profile_progress)(const char *what, size_t done, size_t total);

/* Tells so. */
void report_progress(const char *what, size_t done, size_t total);

/* Reads the data files in PATHS: each a data file or a directory of them; none: $QUIPU_DATA or
 * "quipu.data".  Ends the program with one error that names file and cause where something is
 * wrong: no such file, foreign, truncated or corrupt data, a binary that is gone or of another
 * build.  Where a directory was named, such files are left out with one warning, if any good one
 * remains; see sources.h. */
struct profile *profile_open(char *const *paths, size_t path_count);

/* Reads anew which threads have slots, and where modules lie, of a profile of one data file whose
 * process may have gone on.  Returns false where a module has come, which only profile_open can
 * take in. */
bool profile_refresh(struct profile *profile);

/* Copies the cells of processes that still run: what is counted from them more than once, for each
 * thread and for all, is of one instant then. */
void profile_hold(struct profile *profile);

/* The index in `files` of the source file PATH, which is copied, made where it is new; 0: there are
 * too many. */
uint32_t profile_file(struct profile *profile, const char *path);

/* Reads the events of all threads that have not been read. */
void profile_read_events(struct profile *profile);

/* Whether PATH is a data file or a directory, and not a binary, as far as its first bytes tell. */
bool profile_is_data(const char *path);

/* The functions of the binary at PATH, with no counts: for 'quipu info BINARY'.  Ends the program
 * with an error where it is no such binary. */
struct profile *profile_open_binary(const char *path);

/* Whether any of the code was built to be counted (--quipu=count). */
bool profile_has_counts(const struct profile *profile);

/* Ends the program with an error where none was: all counts would be 0. */
void profile_need_counts(const struct profile *profile);

/* Fills in all counts from the cells of this instant, or of profile_hold's. */
void profile_count(struct profile *profile, struct selection selection);

/* What a process, or one thread of it, has executed. */
struct part {
    struct selection selection; /* its process is not NULL */
    uint64_t executed;          /* instructions; filled in by count_parts */
    uint64_t *modules;          /* the same for each of the process's modules; NULL: not wanted */
};

/* Fills in the counts of PARTS, each as profile_count for its selection, but leaves the profile's
 * counts as they are.  SHOWS tells whether a function is counted, and is called by several threads;
 * NULL: all are. */
void count_parts(const struct profile *profile, struct part *parts, size_t count,
                 bool (*shows)(const void *context, const struct function *function),
                 const void *context);

/* Room for any instruction with long names in it. */
enum {
    INSTRUCTION_TEXT_MAX = 2304
};

/* Disassembles INSTRUCTION into TEXT, AT&T syntax, branch targets as symbol+offset. */
void instruction_text(const struct function *function, const struct instruction *instruction,
                      char *text, size_t size);

/* Writes into TEXT where INSTRUCTION stands in the original: "main+0x1f", "main.cold+0x2". */
void instruction_place(const struct function *function, const struct instruction *instruction,
                       char *text, size_t size);

/* The name of the function's FRAGMENT: its own for 0, else the symbol there, "main.cold". */
const char *fragment_name(const struct function *function, uint32_t fragment);

void profile_close(struct profile *profile);

#endif

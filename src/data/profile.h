/* profile.h: a run as the readers see it: processes, modules, functions, counts.
 *
 * profile_open reads data files and the binaries that they name. profile_count solves the flow
 * equations for the selected processes and threads, and fills in every count. Reports, annotations,
 * comparisons and exports use only this header. */
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
    /* in the binary as linked; 0: alignment padding, whose position in this binary is different */
    uint64_t address;
    uint32_t offset;  /* from the start of its fragment, as the compiler made it */
    uint8_t size;     /* in bytes, as the compiler made it */
    uint8_t fragment; /* 0: the function, 1...: f.cold or another piece */
    uint16_t file;    /* index in profile.files; 0: unknown */
    uint32_t line;    /* 0: unknown */
    uint32_t block;   /* index in function.blocks */
    /* the inlined call that it is part of, numbered from 1 in its function; 0: none, or unknown */
    uint32_t copy;
    uint64_t count; /* executions */
};

struct block {
    uint32_t first_instruction; /* index in function.instructions */
    uint32_t instruction_count;
    bool padding;
    bool turned;         /* in the binary, its conditional jump has the opposite condition */
    uint32_t first_edge; /* index in function.edges of the first edge that leaves it */
    uint32_t edge_count;
    /* of padding: a jump in it skips so many instructions at its end, which never run */
    uint32_t jumped_over;
    const uint8_t *bytes; /* of padding: its code; NULL: the code is in the binary */
    uint32_t line;        /* of padding: 0: that of the instruction before it */
    bool line_behind;     /* it is in the file of the instruction behind it, and not before it */
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
    const char *demangled; /* "ns::f(int)"; equal to name if that is not mangled */
    struct module *module;
    uint32_t file;       /* index in profile.files, for its first instruction; 0: unknown */
    uint32_t line;       /* line of the declaration or of the first instruction; 0: unknown */
    uint64_t address;    /* of the entry, as linked */
    uint64_t first_cell; /* index in the module's cells */
    uint32_t fragment_count;
    uint64_t *fragments; /* address of each fragment, as linked */
    struct block *blocks;
    size_t block_count;
    struct flow_edge *edges; /* sorted by source */
    size_t edge_count;
    uint32_t hub_count;
    const struct flow *flow; /* its flow equations: data/flow.h */
    /* in the order of the original text; an index is the instruction's ordinal */
    struct instruction *instructions;
    size_t instruction_count;
    /* filled in by profile_count */
    uint64_t calls;        /* how often it was entered */
    uint64_t executed;     /* instructions executed in it */
    size_t never_executed; /* its instructions that never ran */
};

/* A function that was not instrumented. */
struct left_alone {
    const char *name;
    const char *reason;
    uint64_t address; /* as linked; 0: unknown */
};

struct unit_note {
    const char *version, *source, *compiler, *options;
};

/* lines.h finds lines and inlined calls. */
struct binary; /* open ELF and DWARF handles: symbols/binary.h */

/* A class of events that the user has defined; see format/event.h. */
struct event_class {
    const char *name, *pattern; /* NULL: not counted */
    const char *source;         /* a unit that counts it */
};

struct module {
    const char *path;
    size_t number; /* index in profile.modules */
    uint8_t build_id[QUIPU_BUILD_ID_MAX];
    uint32_t build_id_size;
    uint64_t cells_address; /* as linked */
    uint64_t cell_count;
    uint64_t note_size;                       /* bytes of the notes in the binary */
    bool lost_told;                           /* profile_count has warned of counters that belong to
                                                 no function */
    uint32_t event_kinds;                     /* bit n: kind n (enum quipu_event) is counted */
    uint64_t first_event;                     /* index in the module's cells: the first of kind 0 */
    struct event_class classes[QUIPU_EVENTS]; /* by kind, from QUIPU_EVENT_CLASSES on */
    const char *class_conflict; /* units whose classes do not agree, as a message; NULL: none */
    uint64_t executed;          /* instructions executed in it; filled in by profile_count */
    VECTOR(struct function) functions; /* sorted by address */
    VECTOR(struct left_alone) left_alone;
    VECTOR(struct unit_note) units;
    struct binary *binary; /* NULL: it is gone. Then only a process has the module, without cells */
};

/* The event counts of one slot. */
struct thread_events {
    uint64_t counts[QUIPU_EVENTS]; /* by kind */
    uint64_t begin, number; /* format/event.h: QUIPU_EVENT_BEGIN, in ticks; QUIPU_EVENT_THREAD */
};

/* The cells of one slot. */
struct thread_cells {
    struct module *module;
    uint32_t module_number; /* index in the process's modules */
    uint32_t owner;         /* id of the last thread */
    uint32_t threads;       /* number of threads that have owned the slot */
    uint32_t slot;          /* number of the slot in its process and module */
    uint64_t offset; /* of its cells in the data file, module->cell_count of them; 0: it has none */
    const uint64_t *held;               /* a copy of them; NULL: they are read when needed */
    const struct thread_events *events; /* NULL: not read, or the module counts none */
};

struct data_file; /* data/datafile.h */

struct process {
    const struct data_file *data;
    const char *file;    /* path of the data file */
    const char *program; /* path */
    const char *command; /* arguments joined by blanks */
    uint32_t pid, parent_pid;
    uint32_t rank;       /* in a run of MPI, plus 1; 0: none */
    uint64_t start_time; /* nanoseconds since 1970 */
    bool merged;
    bool mixed;                      /* merged from runs of several programs, or it is not known */
    uint64_t processes;              /* that its data is of; 0: not known */
    bool incomplete;                 /* the runtime could not keep some counts */
    VECTOR(struct module *) modules; /* a build may be in it twice, by two paths */
    uint64_t *load_biases;           /* by module: load address minus link address */
    VECTOR(struct thread_cells) threads; /* one for each slot of each module */
};

/* A data file that is not used. */
struct left_out {
    const char *file, *reason;
};

struct profile {
    struct arena arena;
    VECTOR(struct process) processes;
    VECTOR(struct module *) modules;  /* one for each build that a process ran */
    VECTOR(const char *) files;       /* source files; [0] is "" */
    struct map file_numbers;          /* index in `files`, by name */
    uint64_t executed;                /* instructions executed, of all functions */
    VECTOR(struct left_out) left_out; /* data files that were found but are not used */
};

/* Selects the counts to add up. */
struct selection {
    const struct process *process; /* NULL: all */
    uint32_t owner;                /* thread id; 0: all */
};

/* Called while a profile is opened and counted, which has several parts. In each, WHAT is read, and
 * DONE of TOTAL steps are done, which take about equal times. A part begins with 0 and ends with
 * TOTAL. NULL: there are no calls. */
extern void (*profile_progress)(const char *what, size_t done, size_t total);

/* Calls it. */
void report_progress(const char *what, size_t done, size_t total);

/* Reads the data files in PATHS. Each path is a data file or a directory of them. If there are
 * none, reads $QUIPU_DATA or "quipu.data". On failure, ends the program with an error with file and
 * cause: no such file, foreign, truncated or corrupt data, a binary that is gone or of another
 * build. If a directory was named, such files are left out with one warning, provided that a good
 * one remains; see sources.h. */
struct profile *profile_open(char *const *paths, size_t path_count);

/* For a profile of one data file, whose process may still run: reads again which threads have
 * slots, and the load addresses of modules. Returns false if there is a new module. Only
 * profile_open can add that. */
bool profile_refresh(struct profile *profile);

/* Copies the cells of running processes. Then all counts from them belong to the same instant,
 * those of each thread and those of all threads. */
void profile_hold(struct profile *profile);

/* Returns the index in `files` of the source file PATH, which it copies and adds if it is new.
 * Returns 0 if there are too many. */
uint32_t profile_file(struct profile *profile, const char *path);

/* Reads the events of all threads that have not been read. */
void profile_read_events(struct profile *profile);

/* Whether PATH is a data file or a directory, not a binary, according to its first bytes. */
bool profile_is_data(const char *path);

/* Returns the functions of the binary at PATH, without counts, for 'quipu info BINARY'. Ends the
 * program with an error if the binary cannot be used. */
struct profile *profile_open_binary(const char *path);

/* Whether any of the code was built with counters (--quipu=count). */
bool profile_has_counts(const struct profile *profile);

/* The same for one module. */
bool module_has_counts(const struct module *module);

/* Warns once of processes that have no counts of functions. */
void profile_warn_uncounted(const struct profile *profile);

/* Ends the program with an error if none was. All counts would be 0. */
void profile_need_counts(const struct profile *profile);

/* Fills in all counts from the current cells, or from those of profile_hold. */
void profile_count(struct profile *profile, struct selection selection);

/* The executed instructions of a process, or of one thread in it. */
struct part {
    struct selection selection; /* its process is not NULL */
    uint64_t executed;          /* instructions; filled in by count_parts */
    uint64_t *modules;          /* the same for each of the process's modules; NULL: not needed */
};

/* Fills in the counts of PARTS, each like profile_count for its selection. Keeps the profile's own
 * counts. SHOWS returns whether a function is counted. Several threads call it. NULL: all are. */
void count_parts(const struct profile *profile, struct part *parts, size_t count,
                 bool (*shows)(const void *context, const struct function *function),
                 const void *context);

/* Room for any instruction with long names in it. */
enum {
    INSTRUCTION_TEXT_MAX = 2304
};

/* Disassembles INSTRUCTION to TEXT, in AT&T syntax. Branch targets are symbol+offset. */
void instruction_text(const struct function *function, const struct instruction *instruction,
                      char *text, size_t size);

/* Writes the position of INSTRUCTION in the original to TEXT: "main+0x1f", "main.cold+0x2". */
void instruction_place(const struct function *function, const struct instruction *instruction,
                       char *text, size_t size);

/* Returns the name of the function's FRAGMENT: its own for 0, otherwise the symbol there,
 * "main.cold". */
const char *fragment_name(const struct function *function, uint32_t fragment);

void profile_close(struct profile *profile);

#endif

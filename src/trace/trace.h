/* trace.h: a trace file and what is regenerated from it: each executed instruction of each thread,
 * with what it accessed.
 *
 * trace_open reads the file and the notes of the binaries. trace_walk begins with one thread, and
 * trace_step goes on by one instruction. Mazieres and Smith 1994, section 2. */
#ifndef QUIPU_TRACE_TRACE_H
#define QUIPU_TRACE_TRACE_H

#include "format/notes.h"
#include "format/trace_heads.h"
#include "trace/window.h"
#include "util/arena.h"
#include "util/map.h"
#include "util/vector.h"
#include "x86/callee.h"
#include "x86/decode.h"
#include "x86/effect.h"

struct binary;

/* A record of a function's note. */
struct record_note {
    bool sync;
    uint16_t registers;
    uint16_t narrow; /* of those, only the lower halves are recorded */
    uint8_t vector_count;
    uint8_t vector_sizes[QUIPU_TRACE_VECTORS];
    uint32_t size;                  /* in the file, with its head */
    uint32_t head;                  /* bytes in front of the values of registers */
    uint8_t wide_size, narrow_size; /* bytes of these values, and of those that are narrow */
    uint32_t id;                    /* of a witness */
    bool repeats;           /* a sync that leaves out values if they are those of the last time: */
    uint8_t repeated_first; /* ... its first byte then, */
    uint16_t last;          /* ... and the place of the first of them (QUIPU_TRACE_LAST_VALUES) */
    uint64_t address;       /* of its code, as linked */
    uint32_t code_size;
    uint32_t piece; /* it is in front of this one; NONE_OF: on an edge */
    uint32_t edge;  /* index; NONE_OF: in front of a piece */
    uint32_t begin; /* the piece to which control comes with it; NONE_OF: not found yet */
};

/* Returns what the record has behind its head. */
static inline struct quipu_trace_form form_of_record(const struct record_note *note) {
    return (struct quipu_trace_form){
        .sync = note->sync,
        .wide = (uint8_t)__builtin_popcount(note->registers & ~note->narrow),
        .narrow = (uint8_t)__builtin_popcount(note->narrow),
        .vectors = note->vector_count > 0,
    };
}

enum {
    NONE_OF = UINT32_MAX
};

/* One instruction of the binary. What is shown of it is that of the module's layout (layout.h), or
 * the same if it has none. */
struct traced_instruction {
    uint64_t address; /* as linked */
    uint64_t shown;   /* its address in the layout, as linked */
    uint8_t shown_size;
    struct effect effect;
    struct decoded decoded;
};

typedef VECTOR(struct traced_instruction) instruction_list;

/* Why a piece may be the first one that runs. */
enum piece_entries {
    ENTERED_KNOWN = 1, /* the others were looked for */
    ENTERED_BY_CALL = 2,
    ENTERED_BY_UNWINDER = 4,
};

/* A path that was found. */
struct route {
    bool known;
    uint32_t kind, index; /* of its goal */
    uint32_t edge;        /* its first edge, or NONE_OF */
};

enum {
    ROUTES_RECENT = 4 /* of a piece, whose way mostly leads to few goals */
};

/* A stretch of code without inserted code. Padding has instructions only in a layout. */
struct piece {
    bool padding;
    uint8_t entries;                    /* enum piece_entries */
    struct route routes[ROUTES_RECENT]; /* the last ones from here, by their goals */
    uint32_t record;                    /* 1 + the one in front of it, or 0 */
    uint8_t fragment;
    uint32_t offset, size;                   /* in the compiler's output */
    uint64_t address;                        /* of its first instruction, as linked */
    uint64_t shown;                          /* the same in the module's layout; 0: it has none */
    uint32_t first_edge, edge_count;         /* edges that leave it */
    struct traced_instruction *instructions; /* NULL: not decoded yet */
    uint32_t count;
};

struct path_edge {
    uint32_t source, target; /* 0: outside; 1...: piece + 1; then the hubs */
    uint8_t kind;            /* enum quipu_edge_kind */
    bool ticks;              /* the software instruction counter advances */
    uint32_t record;         /* 1 + the one on it, or 0 */
};

/* Where a ticket may be taken: in front of a piece's first instruction. */
struct order_site {
    uint64_t address; /* as linked */
    struct traced_function *function;
    uint32_t piece;
};

struct traced_function {
    const char *name;
    struct traced_module *module;
    uint64_t address; /* as linked */
    uint32_t fragment_count;
    uint64_t *fragments;
    struct piece *pieces;
    uint32_t piece_count, hub_count;
    struct path_edge *edges; /* sorted by source */
    uint32_t edge_count;
    struct record_note *records;
    uint32_t record_count;
    uint32_t *record_of_id; /* 1 + record, or 0 */
    uint32_t id_count;
    struct order_site *sites;
    uint32_t site_count;
    struct map routes; /* route.c: the next edge, by piece and goal */
};

/* A sync's code. */
struct sync_place {
    uint64_t address; /* as linked */
    struct traced_function *function;
    uint32_t record;
};

struct traced_module {
    const char *path;
    struct binary *binary;
    struct binary *layout;                    /* NULL: the same */
    VECTOR(struct traced_function) functions; /* sorted by address */
    VECTOR(struct sync_place) syncs;          /* sorted by address */
    struct start_places *starts;              /* start.c; NULL: not found yet */
    bool ticks;                               /* it was built with --quipu=moment, too */
    VECTOR(struct order_site) sites;          /* sorted by address */
};

/* A module in a process. */
struct loaded_module {
    struct traced_module *module;
    uint64_t bias;
};

/* A module that has no records. */
struct loaded_library {
    const char *path;
    uint64_t bias;
};

struct traced_process {
    uint32_t number, pid;
    VECTOR(struct loaded_module) modules;
    VECTOR(struct loaded_library) libraries;
    struct stack_modules *stack_modules; /* start.c; NULL: not needed yet */
};

/* Some of a thread's records, as they are stored. */
struct traced_chunk {
    uint32_t number; /* among the thread's */
    uint32_t stored,
        size; /* bytes, and those of the records themselves; not more than they may be */
    const uint8_t *bytes;
    uint64_t fs_base;
    uint32_t counters;           /* so many are in front of the start */
    uint32_t start;              /* bytes of its struct quipu_trace_start, or 0 */
    bool split;                  /* they are taken apart */
    bool broken;                 /* records between the chunk before and this one were not kept */
    uint64_t time, address, end; /* as struct quipu_trace_chunk */
    uint8_t whole;               /* start.c: enum start_state */
    uint64_t origin; /* start.c: of a thread's first chunk: above it are frames that were there
                        before; 0: not looked for yet */
};

/* Whether the thread has gone on behind the chunk: it ends because there was no room. Zeros at its
 * end are not stored. */
static inline bool chunk_is_full(const struct traced_chunk *chunk) {
    return chunk->size - chunk->counters * sizeof(struct quipu_trace_counter) +
               2 * QUIPU_TRACE_RECORD_MAX >=
           QUIPU_TRACE_FULL;
}

/* A thread's records: its chunks, in order. */
struct traced_thread {
    struct traced_process *process;
    uint32_t number, tid;
    VECTOR(struct traced_chunk) chunks;
};

struct trace {
    struct arena arena;
    const char *path;
    const uint8_t *bytes;
    size_t size;
    bool lost;                  /* records are missing: there was no room for them */
    bool stopped;               /* the recording was stopped while programs ran */
    bool dropped;               /* threads have left out records: their chunks are broken there */
    bool other;                 /* a program was built for another format, and recorded nothing */
    bool cut;                   /* the file has not its end */
    bool expands;               /* references of gaps are cut into words of 8 bytes */
    struct trace_window window; /* what of the run is in it */
    struct trace_between *between;   /* what of that is read (between.h); NULL: all */
    struct trace_schedule *schedule; /* schedule.h; NULL: none was recorded */
    uint32_t part, parts; /* only part number `part`, from 0, of `parts` is read; 0 parts: all */
    VECTOR(struct traced_module *) modules;
    VECTOR(struct traced_process *) processes;
    VECTOR(struct traced_thread *) threads; /* by process and number */
};

/* Whether the file at PATH begins as a trace does. */
bool trace_is(const char *path);

/* Opens the trace at PATH, and the binaries that it is of. Returns NULL; or an error message, in
 * ARENA, and then nothing stays open: the file is not a trace, or a binary is gone or another one.
 * The trace itself is in ARENA, too. Of a file that was cut, its complete blocks are read. */
const char *trace_open(struct arena *arena, const char *path, struct trace **result);
void trace_close(struct trace *trace);

/* Writes the counters, the start and the records of CHUNK, and zeros behind them, into RECORDS, of
 * QUIPU_TRACE_CONTENTS_MAX bytes. Returns NULL, or why they cannot be read. */
const char *read_chunk(const struct traced_chunk *chunk, uint8_t *records);

/* Returns NULL, or an error message, in the trace's arena, if it has no records at all. */
const char *trace_lacks_records(struct trace *trace);

/* notes.c: reads the notes of MODULE's binary, which may have none. Returns NULL, or an error
 * message. */
const char *read_trace_notes(struct arena *arena, struct traced_module *module);

/* notes.c: decodes the piece's instructions if they are not decoded yet. */
void decode_piece(struct arena *arena, struct traced_function *function, struct piece *piece);

/* What a path leads to. */
enum goal_kind {
    GOAL_OUTSIDE,
    GOAL_RECORD, /* just in front of it */
    GOAL_PIECE,  /* the begin of it */
};

struct goal {
    uint32_t kind;  /* enum goal_kind */
    uint32_t index; /* record or piece */
};

/* route.c: returns the index of the first edge of the path without records from SOURCE, the end of
 * a piece or a hub as the source of edges, to GOAL; or NONE_OF if there is none. */
uint32_t find_route(struct arena *arena, struct traced_function *function, uint32_t source,
                    struct goal goal);

/* Whether the edge is a jump out of the function that has a record behind it, of the result. */
static inline bool has_tail_result(const struct traced_function *function,
                                   const struct path_edge *e) {
    return e->record && e->kind == QUIPU_EDGE_TAIL && e->target == 0 &&
           function->records[e->record - 1].registers & REGISTER_RAX;
}

/* A part of memory that an instruction accessed. */
struct reference {
    uint64_t address;
    uint64_t size;
    bool writes;
    bool sure; /* otherwise an element of it may be masked out, or the address is not known */
};

typedef VECTOR(struct reference) reference_list;

/* Code that is not in the trace has run. */
struct trace_gap {
    const struct traced_function *function; /* called it; NULL: there is no gap */
    const struct traced_instruction *call;  /* the call or jump; NULL: FUNCTION returned to it */
    uint32_t missing; /* 1: what ran was not kept, and nothing is known of it; FUNCTION is NULL */
    uint32_t behind;  /* 1: control came behind CALL, the function's last instruction */
    uint64_t system_call; /* 1 + its number; 0: none, or not known */
};

static inline bool is_gap(const struct trace_gap *gap) {
    return gap->function || gap->missing;
}

/* An executed instruction. */
struct trace_step {
    struct trace_gap gap;          /* in front of the instruction */
    reference_list gap_references; /* what is known of the accesses in the gap */
    bool changes_heap;             /* the gap's function allocated or freed, as `heap` tells */
    struct heap_change heap;
    const struct traced_function *function;
    const struct piece *piece;
    const struct traced_instruction *instruction;
    uint64_t address; /* in the process, as the layout has it */
    uint64_t ticks;   /* of the moment in front of the instruction ... */
    uint32_t
        counted; /* ... and the thread's number in its name (symbols/moment_name.h); 0: not known */
    reference_list references; /* in the order of the accesses */
};

struct trace_walk; /* walk.c */

/* walk_straight.c: the same as trace_step, if the next instruction is one that directly follows the
 * last one, and is simple; otherwise returns NULL, and nothing is done. It allocates nothing. */
struct trace_step *trace_straight_step(struct trace_walk *walk);

/* Begins with the part of the thread that is read of the trace, up to its end. */
struct trace_walk *trace_begin(struct trace *trace, const struct traced_thread *thread);

/* Some chunks of a thread, by their index. */
struct chunk_range {
    size_t first, end;
};

/* start.c: returns the chunks that are part NUMBER, from 0, of COUNT parts of the thread. Each part
 * can be read alone. A part may be empty. */
struct chunk_range trace_part(struct trace *trace, const struct traced_thread *thread,
                              uint32_t number, uint32_t count);

/* start.c: returns the thread's chunks in which a walk comes to the first moment of trace->between,
 * and to all behind it. */
struct chunk_range trace_chunks_from(struct trace *trace, const struct traced_thread *thread);

/* start.c: whether a walk may begin with the thread's chunk number INDEX. */
bool trace_may_begin(struct trace *trace, const struct traced_thread *thread, size_t index);

/* Begins with the chunks of RANGE, which is a part, or several ones behind each other. The walks of
 * all parts, one after the other, give what the walk of the thread gives. */
struct trace_walk *trace_begin_part(struct trace *trace, const struct traced_thread *thread,
                                    struct chunk_range range);
/* Of a walk that trace_step was not called for yet: returns the instruction in front of its first
 * one, if the walk is that of a part that does not begin with the thread's first chunk; or NULL. */
const struct trace_step *trace_step_before(const struct trace_walk *walk);
/* Returns false at the end of the trace. STEP is valid until the next call. */
bool trace_step(struct trace_walk *walk, struct trace_step **step);
/* Of the walk of a part, for which trace_step has returned false: does the same for the instruction
 * behind the part, which belongs to the next one. */
bool trace_step_behind(struct trace_walk *walk, struct trace_step **step);
/* Goes on up to the next instruction or ticket, as trace_step. If a ticket is first, sets *TICKET
 * to its number, and *STEP to NULL. */
bool trace_step_or_ticket(struct trace_walk *walk, struct trace_step **step, uint64_t *ticket);
/* Of the step that trace_step has returned: returns the function whose stack frame contains
 * ADDRESS, or NULL. A frame reaches from the lowest byte that its function may use at this time,
 * below the stack pointer, up to its return address, which belongs to the caller if that is traced.
 */
const struct traced_function *trace_frame_at(const struct trace_walk *walk, uint64_t address);
/* Of the same step: sets SITE to the call that the function at DEPTH, from 0 for the innermost one,
 * has made last: is in, but for the innermost one. Returns false if there is none. */
bool trace_call_site(const struct trace_walk *walk, size_t depth, struct trace_gap *site);
/* Returns the thread pointer, the base address of %fs. */
uint64_t trace_thread_pointer(const struct trace_walk *walk);
/* Returns why the trace ended before the thread's records did, or NULL. */
const char *trace_fault(const struct trace_walk *walk);
/* What the bytes of records are for. */
enum record_bytes {
    BYTES_WITNESSES, /* which edges were taken */
    BYTES_SYNCS,     /* code that was called or returned to, and the stack pointer there */
    BYTES_VALUES,    /* registers, 8 bytes each */
    BYTES_HALVES,    /* registers whose upper halves are 0, 4 bytes each */
    BYTES_VECTORS,   /* vectors and masks of gathers, scatters and masked accesses */
    BYTES_SIGNALS,   /* where signals came in, and returns from their handlers */
    BYTES_ORDER,     /* tickets of synchronization */
    BYTES_MEASURED,  /* what calls outside of the trace accessed */
    BYTES_KINDS
};

struct record_sums {
    uint64_t bytes[BYTES_KINDS];
};

/* Returns the bytes of the records that were read so far. */
const struct record_sums *trace_record_sums(const struct trace_walk *walk);
/* A place in a thread's records. */
struct record_position {
    uint32_t chunk;  /* its number */
    uint32_t offset; /* in the chunk's records */
};

/* Returns where the thread's cursor was when it executed the step. */
struct record_position trace_position(const struct trace_walk *walk);
/* Returns where the next record is, which the walk may have looked at. */
struct record_position trace_next_position(const struct trace_walk *walk);
/* Returns the gap behind the last instruction, once trace_step has returned false, and sets
 * REFERENCES to what is known of its accesses, valid as long as the walk. */
struct trace_gap trace_last_gap(const struct trace_walk *walk, const reference_list **references);
void trace_end(struct trace_walk *walk);

#endif

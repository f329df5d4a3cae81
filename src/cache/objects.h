/* objects.h: the objects that a trace's references are in: variables, heap blocks, stack frames.
 *
 * A reference counts for the object of its first byte, as that is when the reference is made. What
 * is not known is OBJECT_OTHER.
 *
 * Not perfect:
 *   - Threads come one after the other, unless they have one order (source.h). So a block that a
 *     thread has freed stays known for the others until another one takes its place, and one that a
 *     later thread allocates is not known yet.
 *   - A block that code outside of the trace frees is known until a known one takes its place.
 * Blocks that such code allocates are OBJECT_OTHER.
 *   - A forked process does not know the blocks of its parent. */
#ifndef QUIPU_CACHE_OBJECTS_H
#define QUIPU_CACHE_OBJECTS_H

#include "cache/heap_blocks.h"
#include "cache/number_table.h"
#include "cache/source.h"
#include "symbols/static_objects.h"
#include "trace/trace.h"
#include "util/buffer.h"
#include "util/map.h"

/* What is known of a module's memory. */
struct object_module {
    const struct traced_module *module;
    struct static_objects objects;
    uint64_t begin, end; /* of its memory, as linked */
};

/* What a part of a trace does to a heap that it does not know. A block that it has not allocated
 * itself may be there from before: the object of such an address is pending, and the merge, which
 * knows the blocks in front of the part, finds it. If the block that was there has been freed by
 * the part, that is the last pointer at or below the address that the part has freed by then. So a
 * place of OBJECT_PENDING has the address as `identity`, that pointer or 0 as `bytes`, 1 + the
 * place that it is if there is no block as `blocks`, and the number of the process. */
struct part_heap {
    struct heap_blocks covered; /* the part has allocated or unmapped there: nothing is left */
    struct heap_blocks freed;   /* pointers, as blocks of one byte */
};

/* An address whose object is pending. */
struct pending_object {
    uint64_t freed;
    uint32_t place;
    uint32_t next; /* 1 + index of the next one of the address, or 0 */
};

/* What a process has. */
struct object_process {
    const struct traced_process *process;
    bool has_threads; /* more than one */
    struct heap_blocks heap;
    struct part_heap part;
};

/* A call that allocates, or is on the way to one. */
struct allocation_site {
    struct reference_place place; /* of blocks; without kind and numbers */
    bool passes;         /* its function allocates for its caller: a system header's, or one
                            of the source's `allocators` */
    uint32_t numbers[2]; /* 1 + place of its blocks, and of its mappings; 0: none yet */
};

struct object_numbers {
    struct arena arena;
    VECTOR(struct object_module *) modules;
    VECTOR(struct object_process *) processes;
    struct object_process *recent;    /* the process that was looked up last */
    struct number_table known;        /* 1 + place, by the pointer to what describes the object */
    struct map allocations;           /* place, by kind, line and function of the call */
    struct number_table site_numbers; /* 1 + index in `sites`, by call */
    VECTOR(struct allocation_site) sites;
    bool partial;                /* a part is simulated */
    struct number_table pending; /* 1 + index in `pending_list`, by address */
    VECTOR(struct pending_object) pending_list;
    struct number_table touched; /* 1 + number of the part's thread that has begun the place last */
    uint32_t stamp;              /* that number */
};

void object_numbers_release(struct object_numbers *numbers);

/* Returns the place's number for the code of STEP. Adds it to SOURCE if it is new. */
uint32_t number_code(struct object_numbers *numbers, struct reference_source *source,
                     const struct trace_step *step);

/* Returns the place's number for the object at ADDRESS, which THREAD has accessed in the last step
 * of WALK. Adds it to SOURCE if it is new. */
uint32_t number_object(struct object_numbers *numbers, struct reference_source *source,
                       const struct traced_thread *thread, const struct trace_walk *walk,
                       uint64_t address);

/* Follows what the gap of STEP, the last one of WALK, of THREAD in TRACE, has done to the heap. */
void follow_heap(struct object_numbers *numbers, struct reference_source *source,
                 const struct trace *trace, const struct traced_thread *thread,
                 const struct trace_walk *walk, const struct trace_step *step);

/* objects_part.c: begins with a part of a thread. Nothing is known of the heap. */
void begin_object_part(struct object_numbers *numbers, struct reference_source *source);

/* objects_part.c: notes that the part has begun with PLACE. Returns PLACE. */
uint32_t touch_place(struct object_numbers *numbers, struct reference_source *source,
                     uint32_t place);

/* objects_part.c: returns the pending place of ADDRESS, which is PLACE if no block is there. */
uint32_t number_pending(struct object_numbers *numbers, struct reference_source *source,
                        const struct object_process *process, uint64_t address, uint32_t place);

/* objects_part.c: CHANGE has been made to the heap of PROCESS. FREES: what it frees counts. */
void note_heap_change(struct object_numbers *numbers, struct object_process *process,
                      const struct heap_change *change, bool frees);

/* objects_part.c: appends what the part has done to the heap of PROCESS. */
void write_heap_part(struct reference_source *source, const struct object_process *process,
                     struct buffer *out);

/* Returns what is known of PROCESS. */
struct object_process *find_object_process(struct object_numbers *numbers,
                                           const struct traced_process *process);

/* allocations.c: returns the place's number for what the gap of STEP, the last one of WALK, has
 * allocated: a block, or pages if MAPS. Adds it to SOURCE if it is new. */
uint32_t number_allocation(struct object_numbers *numbers, struct reference_source *source,
                           const struct trace_walk *walk, const struct trace_step *step, bool maps);

#endif

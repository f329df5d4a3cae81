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
#include "util/map.h"

/* What is known of a module's memory. */
struct object_module {
    const struct traced_module *module;
    struct static_objects objects;
    uint64_t begin, end; /* of its memory, as linked */
};

/* What a process has. */
struct object_process {
    const struct traced_process *process;
    bool has_threads; /* more than one */
    struct heap_blocks heap;
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

/* allocations.c: returns the place's number for what the gap of STEP, the last one of WALK, has
 * allocated: a block, or pages if MAPS. Adds it to SOURCE if it is new. */
uint32_t number_allocation(struct object_numbers *numbers, struct reference_source *source,
                           const struct trace_walk *walk, const struct trace_step *step, bool maps);

#endif

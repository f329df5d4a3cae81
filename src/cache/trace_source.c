/* trace_source.c: references from a trace, regenerated one thread after the other, or all threads
 * in one order.
 *
 * What functions of the C library have accessed counts for the place that has called them.
 *
 * Not perfect: memory that processes share has different addresses in the one order. Accesses whose
 * address or elements are not known are left out, and counted. What such functions only may have
 * accessed, as memcmp, is left out, too. */
#include "cache/objects.h"
#include "cache/places.h"
#include "cache/source.h"

#include "trace/layout.h"
#include "trace/order.h"
#include "util/diag.h"

#include <stdlib.h>

enum {
    PIECE = 64 /* bytes; longer references are cut at multiples of it */
};

struct trace_source {
    struct reference_source base; /* the first member: pointers to it are pointers to this */
    struct trace *trace;
    struct place_numbers numbers;
    struct object_numbers objects; /* if it is by object */
    size_t thread;                 /* index of the walked one */
    struct trace_walk *walk;       /* of that; NULL: none, or there is an order */
    struct trace_walk *step_walk;  /* of the step */
    struct trace_order
        *order;      /* of all threads; NULL: they come one after the other, or none yet */
    bool by_part;    /* `walk` is that of a part, and nothing follows it */
    bool begins;     /* the next reference is the step's first one */
    bool has_ticket; /* of a part: `ticket` comes first */
    uint64_t ticket;
    uint64_t space; /* is added to the addresses of the walked thread */
    /* of the step that is being taken; NULL: none */
    struct trace_step *step;
    const reference_list *references; /* of the step, or of the gap in front of it */
    bool in_gap;                      /* the step's instruction is still to be fetched */
    uint32_t place;                   /* of what is being taken */
    bool placed;                      /* it is known: an instruction of this walk was fetched */
    size_t reference;                 /* the next one */
    uint64_t taken;                   /* bytes of it that have been taken */
};

/* Whether the instruction reads and then writes these bytes. */
static bool is_modified(const reference_list *references, size_t i) {
    const struct reference *read = &references->data[i];
    const struct reference *write = read + 1;
    return i + 1 < references->count && !read->writes && write->writes && write->sure &&
           read->address == write->address && read->size == write->size;
}

static const struct traced_thread *walked_thread(const struct trace_source *source) {
    return source->trace->threads.data[source->thread];
}

/* Takes the next piece of data of the step, or of its gap. Returns false if there is none. */
static bool take_data(struct trace_source *source, struct memory_reference *result) {
    const reference_list *references = source->references;
    for (; source->reference < references->count; source->reference++) {
        const struct reference *reference = &references->data[source->reference];
        if (!reference->sure && !source->in_gap)
            source->base.unsure++;
        if (!reference->sure || !reference->size)
            continue;
        uint64_t left = reference->size - source->taken;
        result->address = source->space + reference->address + source->taken;
        result->modifies = is_modified(references, source->reference);
        result->kind = reference->writes ? REFERENCE_WRITE : REFERENCE_READ;
        uint64_t size = left;
        if (reference->size > PIECE && left > PIECE - result->address % PIECE)
            size = PIECE - result->address % PIECE;
        result->size = (uint32_t)size;
        if (source->numbers.kind == PLACE_OBJECT)
            result->place = number_object(&source->objects, &source->base, walked_thread(source),
                                          source->step_walk, result->address - source->space);
        source->taken += size;
        if (source->taken < reference->size)
            return true;
        source->reference += is_modified(references, source->reference) ? 2 : 1;
        source->taken = 0;
        return true;
    }
    return false;
}

static void warn_of_fault(const struct trace_source *source, const struct traced_thread *thread,
                          const struct trace_walk *walk) {
    if (trace_fault(walk))
        warn_of_source_fault(&source->base, thread->tid, trace_fault(walk));
}

/* From now on, references count for the place of STEP. */
static void enter_place(struct trace_source *source, const struct trace_step *step) {
    source->placed = true;
    source->place =
        source->numbers.kind == PLACE_OBJECT
            ? number_code(&source->objects, &source->base, step)
            : number_place(&source->numbers, &source->base, walked_thread(source), step);
}

/* Makes the source ready for its step, which WALK has made. */
static void begin_step(struct trace_source *source, struct trace_walk *walk) {
    if (!source->placed) /* what ran in front of the thread's first instruction counts for that */
        enter_place(source, source->step);
    source->step_walk = walk;
    source->begins = true;
    source->references = &source->step->gap_references;
    source->in_gap = true;
    source->reference = 0;
    if (source->numbers.kind == PLACE_OBJECT && source->step->changes_heap)
        follow_heap(&source->objects, &source->base, source->trace, walked_thread(source), walk,
                    source->step);
}

/* Returns what is added to addresses of THREAD if those of processes differ. */
static uint64_t space_of(const struct traced_thread *thread) {
    enum {
        SPACE_BITS = 48 /* of addresses in a process */
    };
    uint64_t process = thread->process->number;
    return process > 1 ? (process - 1) << SPACE_BITS : 0;
}

/* Goes on to the next instruction of all threads. Returns false at the end. */
static bool take_ordered_step(struct trace_source *source) {
    struct ordered_step next;
    const struct trace *trace = source->trace;
    if (!source->order)
        source->order = trace_order_begin(source->trace,
                                          (const struct traced_thread *const *)trace->threads.data,
                                          trace->threads.count);
    if (trace_order_step(source->order, &next)) {
        source->step = next.step;
        source->thread = next.thread;
        source->space = space_of(trace->threads.data[next.thread]);
        begin_step(source, trace_order_walk(source->order, next.thread));
        return true;
    }
    for (size_t i = 0; source->step && i < trace->threads.count; i++)
        warn_of_fault(source, trace->threads.data[i], trace_order_walk(source->order, i));
    source->step = NULL;
    return false;
}

/* Goes on to the next instruction, of the next thread if this one is done. Returns false at the
 * end. */
static bool take_step(struct trace_source *source) {
    const struct trace *trace = source->trace;
    for (; source->thread < trace->threads.count; source->thread++) {
        const struct traced_thread *thread = trace->threads.data[source->thread];
        if (!source->walk)
            source->walk = trace_begin(source->trace, thread);
        if (trace_step(source->walk, &source->step)) {
            begin_step(source, source->walk);
            return true;
        }
        warn_of_fault(source, thread, source->walk);
        trace_end(source->walk);
        source->walk = NULL;
        source->placed = false;
    }
    source->step = NULL;
    return false;
}

/* Goes on to the next instruction of the part. Returns false at the end. */
static bool take_step_of_part(struct trace_source *source) {
    struct trace_step *step;
    if (source->base.tells_tickets ? trace_step_or_ticket(source->walk, &step, &source->ticket)
                                   : trace_step(source->walk, &step)) {
        source->step = step;
        source->has_ticket = !step;
        if (step)
            begin_step(source, source->walk);
        return true;
    }
    source->base.fault = trace_fault(source->walk);
    source->step = NULL;
    return false;
}

/* Begins with the step's instruction, behind its gap. Returns the reference to it. */
static struct memory_reference fetch(struct trace_source *source) {
    const struct trace_step *step = source->step;
    enter_place(source, step);
    source->references = &step->references;
    source->in_gap = false;
    source->reference = 0;
    return (struct memory_reference){.address = source->space + step->address,
                                     .size = step->instruction->shown_size,
                                     .place = source->place,
                                     .thread = (uint32_t)source->thread,
                                     .kind = REFERENCE_FETCH};
}

static bool go_on(struct trace_source *source) {
    if (source->base.global)
        return take_ordered_step(source);
    return source->by_part ? take_step_of_part(source) : take_step(source);
}

static size_t next_references(struct reference_source *base, struct memory_reference *references,
                              size_t most) {
    struct trace_source *source = (struct trace_source *)base;
    size_t count = 0;
    while (count < most) {
        struct memory_reference *next = &references[count];
        next->thread = (uint32_t)source->thread;
        next->place = source->place;
        if (source->has_ticket) {
            *next = (struct memory_reference){.address = source->ticket, .kind = REFERENCE_TICKET};
            source->has_ticket = false;
        } else if (source->step && source->in_gap && !take_data(source, next)) {
            *next = fetch(source);
        } else if (!source->step || (!source->in_gap && !take_data(source, next))) {
            if (!go_on(source))
                break;
            continue;
        }
        next->begins = source->begins;
        source->begins = false;
        count++;
    }
    return count;
}

static void begin_part(struct reference_source *base, size_t thread, uint32_t number,
                       uint32_t count) {
    struct trace_source *source = (struct trace_source *)base;
    const struct traced_thread *chosen = source->trace->threads.data[thread];
    if (source->walk)
        trace_end(source->walk);
    struct chunk_range range = trace_part(source->trace, chosen, number, count);
    source->walk = trace_begin_part(source->trace, chosen, range);
    source->thread = thread;
    source->by_part = true;
    source->step = NULL;
    source->placed = false;
    if (source->numbers.kind == PLACE_OBJECT)
        begin_object_part(&source->objects, base);
    base->fault = NULL;
    base->thread_id = chosen->tid;
    base->process = chosen->process->number;
    base->thread_number = chosen->number;
    source->has_ticket = false;
    source->space = base->tells_tickets ? space_of(chosen) : 0;
    const struct trace_step *before = trace_step_before(source->walk);
    if (before)
        enter_place(source, before);
}

static void write_heap(struct reference_source *base, struct buffer *out) {
    struct trace_source *source = (struct trace_source *)base;
    write_heap_part(base, find_object_process(&source->objects, walked_thread(source)->process),
                    out);
}

static void close_trace(struct reference_source *base) {
    struct trace_source *source = (struct trace_source *)base;
    if (source->walk)
        trace_end(source->walk);
    if (source->order)
        trace_order_end(source->order);
    place_numbers_release(&source->numbers);
    object_numbers_release(&source->objects);
    trace_close(source->trace);
    arena_release(&base->arena);
    free(source);
}

struct reference_source *open_trace_source(const char *path, enum place_kind kind) {
    struct trace_source *source = calloc(1, sizeof *source);
    if (!source)
        die("out of memory");
    source->base.path = path;
    source->base.next = next_references;
    source->base.close = close_trace;
    source->base.begin_part = begin_part;
    source->base.write_heap = write_heap;
    source->numbers.kind = kind;
    const char *cause = trace_open(&source->base.arena, path, &source->trace);
    if (!cause)
        cause = trace_lacks_records(source->trace);
    if (cause)
        die("%s", cause);
    source->base.file_size = source->trace->size;
    source->base.threads = source->trace->threads.count;
    source->base.scheduled = source->trace->schedule;
    if (source->trace->lost)
        warn("'%s' is not complete: a program could not record all", path);
    return &source->base;
}

void lay_out_source(struct reference_source *source, const text_vector *paths) {
    if (!paths->count)
        return;
    if (source->next != next_references)
        die("'%s' is no trace; --layout is for one that 'quipu trace' wrote", source->path);
    need_layouts(((struct trace_source *)source)->trace, paths);
}

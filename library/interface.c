/* interface.c: the C interface to traces; see include/quipu-trace.h. */
#pragma GCC visibility push(default)
#include "include/quipu-trace.h"
#pragma GCC visibility pop

#include "library/guard.h"
#include "symbols/binary.h"
#include "symbols/moment_name.h"
#include "trace/between.h"
#include "trace/gap.h"
#include "trace/layout.h"
#include "trace/order.h"
#include "trace/piece_table.h"
#include "trace/place.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct quipu_trace {
    struct arena arena;
    struct trace *trace;
    struct piece_table facts; /* struct facts of each instruction */
    struct guard guard;
};

/* What an instruction has each time it runs. */
struct facts {
    bool known, placed;
    struct step_place place; /* without file and line unless it is `placed` */
    const uint8_t *code;
    const char *text; /* NULL: not asked for yet */
};

typedef VECTOR(struct quipu_trace_reference) interface_references;

struct quipu_trace_reader {
    struct quipu_trace *owner;
    uint32_t part, parts;      /* part number `part`, from 0, of `parts`; 0 parts: all */
    size_t number;             /* of the thread, of the last record's thread if all are read */
    struct trace_walk *walk;   /* through the records of that thread; NULL: of none yet */
    struct trace_order *order; /* all threads are read; NULL: one is */
    bool unordered;            /* the last record, to the one in front of it */
    struct trace_step *step;   /* the last one; NULL: none */
    struct facts *facts;       /* of its instruction */
    const char *fault;
    struct arena arena; /* of the references */
    interface_references references, gap_references;
    struct quipu_trace_reference few[EFFECT_ACCESSES]; /* of a straight step */
    struct gap_names gaps;
    struct quipu_trace_record record;
    struct guard guard;
};

/* ---- the trace ---- */

struct opening {
    struct quipu_trace *trace;
    const char *path, *cause;
};

static void open_it(void *context) {
    struct opening *opening = context;
    struct quipu_trace *trace = opening->trace;
    opening->cause = trace_open(&trace->arena, opening->path, &trace->trace);
    if (!opening->cause)
        opening->cause = trace_set_between_of_window(trace->trace);
}

struct quipu_trace *quipu_trace_open(const char *path, char *message, size_t size) {
    struct opening opening = {calloc(1, sizeof *opening.trace), path, "out of memory"};
    struct quipu_trace *trace = opening.trace;
    if (trace) {
        trace->facts.size = sizeof(struct facts);
        if (!run_in_guard(&trace->guard, open_it, &opening))
            opening.cause = trace->guard.message;
    }
    if (!opening.cause)
        return trace;
    if (size)
        snprintf(message, size, "%s", opening.cause);
    if (trace)
        arena_release(&trace->arena);
    free(trace);
    return NULL;
}

struct laying_out {
    struct quipu_trace *trace;
    const char *path, *cause, *warning;
};

static void lay_out(void *context) {
    struct laying_out *work = context;
    work->cause = trace_set_layout(work->trace->trace, work->path, &work->warning);
}

int quipu_trace_set_layout(struct quipu_trace *trace, const char *path, char *message,
                           size_t size) {
    struct laying_out work = {trace, path, NULL, NULL};
    if (!run_in_guard(&trace->guard, lay_out, &work))
        work.cause = trace->guard.message;
    const char *text = work.cause ? work.cause : work.warning;
    if (text && size)
        snprintf(message, size, "%s", text);
    return work.cause ? -1 : work.warning != NULL;
}

struct bounding {
    struct quipu_trace *trace;
    const char *from, *to, *cause;
};

static void set_between(void *context) {
    struct bounding *work = context;
    work->cause = trace_set_between(work->trace->trace, work->from, work->to);
}

int quipu_trace_set_between(struct quipu_trace *trace, const char *from, const char *to,
                            char *message, size_t size) {
    struct bounding work = {trace, from, to, NULL};
    if (!run_in_guard(&trace->guard, set_between, &work))
        work.cause = trace->guard.message;
    if (work.cause && size)
        snprintf(message, size, "%s", work.cause);
    return work.cause ? -1 : 0;
}

void quipu_trace_close(struct quipu_trace *trace) {
    if (!trace)
        return;
    trace_close(trace->trace);
    piece_table_release(&trace->facts);
    arena_release(&trace->arena);
    free(trace);
}

int quipu_trace_is_complete(const struct quipu_trace *trace) {
    return !trace->trace->cut && !trace->trace->stopped && !trace->trace->lost;
}

size_t quipu_trace_processes(const struct quipu_trace *trace) {
    return trace->trace->processes.count;
}

size_t quipu_trace_threads(const struct quipu_trace *trace) {
    return trace->trace->threads.count;
}

struct quipu_trace_identity quipu_trace_identify(const struct quipu_trace *trace, size_t number) {
    if (number >= trace->trace->threads.count)
        return (struct quipu_trace_identity){0, 0};
    const struct traced_thread *thread = trace->trace->threads.data[number];
    return (struct quipu_trace_identity){thread->process->pid, thread->tid};
}

/* ---- a thread ---- */

static void begin_walk(void *context) {
    struct quipu_trace_reader *reader = context;
    struct trace *trace = reader->owner->trace;
    reader->walk = trace_begin(trace, trace->threads.data[reader->number]);
}

static void begin_part(void *context) {
    struct quipu_trace_reader *reader = context;
    struct trace *trace = reader->owner->trace;
    const struct traced_thread *thread = trace->threads.data[reader->number];
    reader->walk =
        trace_begin_part(trace, thread, trace_part(trace, thread, reader->part, reader->parts));
}

static void begin_order(void *context) {
    struct quipu_trace_reader *reader = context;
    struct trace *trace = reader->owner->trace;
    reader->order = trace_order_begin(
        trace, (const struct traced_thread *const *)trace->threads.data, trace->threads.count);
}

static struct quipu_trace_reader *begin_reader(struct quipu_trace *trace, size_t number,
                                               uint32_t part, uint32_t parts,
                                               void (*begin)(void *reader)) {
    struct quipu_trace_reader *reader = calloc(1, sizeof *reader);
    if (!reader)
        return NULL;
    reader->owner = trace;
    reader->number = number;
    reader->part = part;
    reader->parts = parts;
    if (run_in_guard(&reader->guard, begin, reader))
        return reader;
    free(reader);
    return NULL;
}

struct quipu_trace_reader *quipu_trace_begin(struct quipu_trace *trace, size_t number) {
    if (number >= trace->trace->threads.count)
        return NULL;
    return begin_reader(trace, number, 0, 0, begin_walk);
}

struct quipu_trace_reader *quipu_trace_begin_part(struct quipu_trace *trace, size_t thread,
                                                  uint32_t number, uint32_t count) {
    if (thread >= trace->trace->threads.count || number >= count)
        return NULL;
    return begin_reader(trace, thread, number, count, begin_part);
}

struct quipu_trace_reader *quipu_trace_begin_global(struct quipu_trace *trace) {
    return begin_reader(trace, 0, 0, 0, begin_order);
}

size_t quipu_trace_thread(const struct quipu_trace_reader *reader) {
    return reader->number;
}

int quipu_trace_is_ordered(const struct quipu_trace_reader *reader) {
    return !reader->unordered;
}

static void find_facts(struct quipu_trace_reader *reader) {
    const struct trace_step *step = reader->step;
    size_t left;
    reader->facts->known = true;
    reader->facts->place = find_step_function(step);
    reader->facts->code = step_code(step, &left);
}

/* Copies FROM to LIST, which is in the reader's arena. */
static void copy_references(struct quipu_trace_reader *reader, const reference_list *from,
                            interface_references *list) {
    list->count = 0;
    for (size_t i = 0; i < from->count; i++) {
        struct quipu_trace_reference reference = {from->data[i].address, from->data[i].size,
                                                  from->data[i].writes, from->data[i].sure};
        vector_push(&reader->arena, list, reference);
    }
}

static void set_facts(struct quipu_trace_reader *reader) {
    const struct trace_step *step = reader->step;
    struct quipu_trace_record *record = &reader->record;
    record->address = step->address;
    record->code = reader->facts->code;
    record->size = step->instruction->shown_size;
    record->offset = reader->facts->place.offset;
    record->function = reader->facts->place.function;
}

static void set_record(struct quipu_trace_reader *reader) {
    struct quipu_trace_record *record = &reader->record;
    reader->facts = instruction_data(&reader->owner->facts, reader->step);
    if (!reader->facts->known)
        find_facts(reader);
    set_facts(reader);
    copy_references(reader, &reader->step->references, &reader->references);
    record->reference_count = reader->references.count;
    record->references = reader->references.data;
}

/* Does the same for a straight step, if its facts are at hand: then nothing can fail, and it needs
 * no guard, which would take as long as the rest. Returns false if they are not. */
static bool set_straight_record(struct quipu_trace_reader *reader) {
    const struct trace_step *step = reader->step;
    struct quipu_trace_record *record = &reader->record;
    if (reader->owner->facts.piece != step->piece)
        return false;
    reader->facts = instruction_data(&reader->owner->facts, step);
    if (!reader->facts->known)
        return false;
    set_facts(reader);
    for (size_t i = 0; i < step->references.count; i++) {
        const struct reference *from = &step->references.data[i];
        reader->few[i] =
            (struct quipu_trace_reference){from->address, from->size, from->writes, from->sure};
    }
    record->reference_count = step->references.count;
    record->references = reader->few;
    return true;
}

static void take_record(void *context) {
    set_record(context);
}

/* Goes on by one step of all threads. Returns false at the end. */
static bool take_ordered_step(struct quipu_trace_reader *reader) {
    struct ordered_step next;
    if (!trace_order_step(reader->order, &next)) {
        reader->walk = NULL;
        reader->fault = trace_order_fault(reader->order);
        return false;
    }
    trace_order_keep(reader->order);
    reader->step = next.step;
    reader->number = next.thread;
    reader->walk = trace_order_walk(reader->order, next.thread);
    reader->unordered = next.unordered;
    return true;
}

static void take_step(void *context) {
    struct quipu_trace_reader *reader = context;
    bool taken;
    if (reader->order) {
        taken = take_ordered_step(reader);
    } else {
        taken = trace_step(reader->walk, &reader->step);
        if (!taken)
            reader->fault = trace_fault(reader->walk);
    }
    if (taken)
        set_record(reader);
    else
        reader->step = NULL;
}

/* Goes on by a straight step. Returns false if the next one is none. */
static bool take_straight_step(struct quipu_trace_reader *reader) {
    struct trace_step *step = trace_straight_step(reader->walk);
    if (!step)
        return false;
    reader->step = step;
    if (!set_straight_record(reader) && !run_in_guard(&reader->guard, take_record, reader)) {
        reader->fault = reader->guard.message;
        reader->step = NULL;
    }
    return true;
}

const struct quipu_trace_record *quipu_trace_next(struct quipu_trace_reader *reader) {
    if (!reader->order && !reader->fault && take_straight_step(reader))
        return reader->step ? &reader->record : NULL;
    if (!reader->fault && !run_in_guard(&reader->guard, take_step, reader))
        reader->fault = reader->guard.message;
    if (reader->fault)
        reader->step = NULL;
    return reader->step ? &reader->record : NULL;
}

const char *quipu_trace_fault(const struct quipu_trace_reader *reader) {
    return reader->fault;
}

void quipu_trace_end(struct quipu_trace_reader *reader) {
    if (!reader)
        return;
    if (reader->order)
        trace_order_end(reader->order);
    else
        trace_end(reader->walk);
    gap_names_release(&reader->gaps);
    arena_release(&reader->arena);
    free(reader);
}

struct naming {
    struct quipu_trace_reader *reader;
    const char *name;
};

static void name_gap(void *context) {
    struct naming *naming = context;
    struct quipu_trace_reader *reader = naming->reader;
    struct trace_gap gap = {0};
    const reference_list *references;
    if (reader->step)
        gap = reader->step->gap;
    else if (reader->walk)
        gap = trace_last_gap(reader->walk, &references);
    if (gap.function)
        naming->name = gap_name(&reader->gaps, &gap);
}

const char *quipu_trace_gap(struct quipu_trace_reader *reader) {
    struct naming naming = {reader, NULL};
    if (!run_in_guard(&reader->guard, name_gap, &naming))
        return NULL;
    return naming.name;
}

static void copy_gap(void *context) {
    struct quipu_trace_reader *reader = context;
    const reference_list *from = reader->step ? &reader->step->gap_references : NULL;
    if (!from)
        trace_last_gap(reader->walk, &from);
    copy_references(reader, from, &reader->gap_references);
}

const struct quipu_trace_reference *quipu_trace_gap_references(struct quipu_trace_reader *reader,
                                                               size_t *count) {
    reader->gap_references.count = 0;
    if ((reader->step || reader->walk) && !run_in_guard(&reader->guard, copy_gap, reader))
        reader->gap_references.count = 0;
    *count = reader->gap_references.count;
    return reader->gap_references.data;
}

/* ---- more about a record ---- */

static void place_step(void *context) {
    struct quipu_trace_reader *reader = context;
    reader->facts->place = find_step_place(reader->step);
    reader->facts->placed = true;
}

static void find_text(void *context) {
    struct quipu_trace_reader *reader = context;
    reader->facts->text = step_text(&reader->owner->facts.arena, reader->step);
}

static void name_moment(void *context) {
    struct naming *naming = context;
    struct quipu_trace_reader *reader = naming->reader;
    const struct trace_step *step = reader->step;
    naming->name = moment_text(&reader->arena, step->function->module->binary,
                               step->instruction->address, step->ticks, step->counted);
}

const char *quipu_trace_moment(struct quipu_trace_reader *reader) {
    struct naming naming = {reader, NULL};
    if (!reader->step || !reader->step->counted)
        return NULL;
    return run_in_guard(&reader->guard, name_moment, &naming) ? naming.name : NULL;
}

/* Whether file and line of the last record's instruction are known. */
static bool has_line(struct quipu_trace_reader *reader) {
    if (!reader->step)
        return false;
    if (!reader->facts->placed && !run_in_guard(&reader->guard, place_step, reader))
        return false;
    return reader->facts->place.line != 0;
}

const char *quipu_trace_file(struct quipu_trace_reader *reader) {
    return has_line(reader) ? reader->facts->place.file : NULL;
}

uint32_t quipu_trace_line(struct quipu_trace_reader *reader) {
    return has_line(reader) ? reader->facts->place.line : 0;
}

const char *quipu_trace_text(struct quipu_trace_reader *reader) {
    if (!reader->step)
        return NULL;
    if (!reader->facts->text && !run_in_guard(&reader->guard, find_text, reader))
        return NULL;
    return reader->facts->text;
}

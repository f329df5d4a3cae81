/* walk_ticks.c: the software instruction counters of a thread, which name moments; see walk.h.
 *
 * Mellor-Crummey and LeBlanc 1989, section 2. The shim notes which edges tick. So the walk counts
 * as the program did, in each module by itself. A signal handler counts on the cells alone: the
 * ticks of the interrupted function that are not in them do not count before it goes on.
 *
 * Not perfect: where a handler returns to code that the walk has not seen, ticks are not known up
 * to the next start. */
#include "trace/walk.h"

#include "format/jump.h"
#include "format/notes.h"
#include "format/watch.h"
#include "symbols/event_tables.h"
#include "symbols/sites.h"

#include <string.h>

/* Copies the chunk's counter number INDEX, which is in front of its records. */
static struct quipu_trace_counter counter_at(const struct trace_walk *walk, uint32_t index) {
    struct quipu_trace_counter counter;
    memcpy(&counter, walk->records + index * sizeof counter, sizeof counter);
    return counter;
}

/* Returns the walk's count in the module with BIAS, or NULL. */
static struct tick_count *find_count(const struct trace_walk *walk, uint64_t bias) {
    const struct traced_process *process = walk->thread->process;
    for (size_t i = 0; i < process->modules.count; i++)
        if (process->modules.data[i].bias == bias && process->modules.data[i].module->ticks)
            return &walk->counts[i];
    return NULL;
}

/* Takes the thread's numbers in names of moments from the counters of the chunk. */
static void take_numbers(struct trace_walk *walk) {
    const struct traced_chunk *chunk = &walk->thread->chunks.data[walk->chunk];
    for (uint32_t i = 0; i < chunk->counters; i++) {
        struct quipu_trace_counter counter = counter_at(walk, i);
        struct tick_count *count = find_count(walk, counter.bias);
        if (count)
            count->thread = counter.thread ? counter.thread : 1;
    }
}

/* Returns the ticks at ADDRESS, of the process, that are not in the cells. */
static uint64_t ticks_above(const struct loaded_module *loaded, uint64_t address) {
    int64_t sums[QUIPU_EVENTS] = {0};
    if (loaded->module->ticks)
        add_events_above(loaded->module->binary, address - loaded->bias, 0, sums);
    return (uint64_t)sums[QUIPU_EVENT_TICKS];
}

/* Returns the address of the program's code at which the record with code at ADDRESS, of the
 * process, is taken: that code may be out of line, where the tables tell nothing. */
static uint64_t place_of_record(const struct loaded_module *loaded, uint64_t address) {
    struct site_table table = find_sites(loaded->module->binary);
    for (size_t i = 0; i < table.count; i++) {
        struct linked_site site = read_site(&table, i);
        if (!is_trace_site(&site) || site.target != address - loaded->bias)
            continue;
        return loaded->bias + (site.size == QUIPU_SITE_TRACE ? site.place + X86_JUMP_SIZE
                                                             : site.place - X86_CONDITIONAL_OPCODE);
    }
    return address;
}

void walk_begin_counts(struct trace_walk *walk) {
    walk->counts =
        ARENA_ARRAY(&walk->arena, struct tick_count, walk->thread->process->modules.count);
}

void walk_enter_counts(struct trace_walk *walk) {
    const struct traced_process *process = walk->thread->process;
    const struct traced_chunk *chunk = &walk->thread->chunks.data[walk->chunk];
    for (size_t i = 0; chunk->number == 0 && !chunk->broken && i < process->modules.count; i++)
        walk->counts[i].known = process->modules.data[i].module->ticks;
    take_numbers(walk);
}

void walk_start_counts(struct trace_walk *walk, uint64_t address) {
    const struct traced_process *process = walk->thread->process;
    const struct traced_chunk *chunk = &walk->thread->chunks.data[walk->chunk];
    for (size_t i = 0; i < process->modules.count; i++)
        walk->counts[i].known = false;
    for (uint32_t i = 0; i < chunk->counters && walk->frames.count; i++) {
        struct quipu_trace_counter counter = counter_at(walk, i);
        const struct loaded_module *innermost =
            vector_at(&walk->frames, walk->frames.count - 1)->loaded;
        struct tick_count *count = find_count(walk, counter.bias);
        if (!count)
            continue;
        count->known = true;
        count->ticks = counter.begin;
        if (innermost->bias == counter.bias)
            count->ticks += ticks_above(innermost, place_of_record(innermost, address));
    }
}

/* Whether the function that FRAME has called, which is not traced, never returns to it. */
static bool never_returns(struct trace_walk *walk, const struct frame *frame) {
    static const char *const names[] = {"__cxa_throw", "__cxa_rethrow", "_Unwind_Resume",
                                        "_Unwind_Resume_or_Rethrow", "_Unwind_RaiseException"};
    static const char throwing[] = "_ZSt"; /* std::__throw_bad_alloc and the like */
    struct trace_gap gap = gap_of(frame->function, frame);
    const char *name = gap_name(&walk->gap_names, &gap);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return strncmp(name, throwing, sizeof throwing - 1) == 0 && strstr(name, "__throw_");
}

/* Returns the edge by which control comes to PIECE from outside of the function's code: the call at
 * the end of the frame's piece returns; or it is an entry; or an earlier call returns again. NULL:
 * none is known. A compiler may put a landing pad directly behind a call that never returns. */
static const struct path_edge *find_entry(struct trace_walk *walk, const struct frame *frame,
                                          uint32_t piece, bool unwinds) {
    const struct traced_function *function = frame->function;
    const struct path_edge *entry = NULL, *again = NULL, *returns = NULL;
    for (uint32_t i = 0; i < function->edge_count; i++) {
        const struct path_edge *e = &function->edges[i];
        if (e->target != piece + 1)
            continue;
        if (e->kind == QUIPU_EDGE_CALL && frame->calls && e->source == frame->piece + 1)
            returns = e;
        else if (e->kind == QUIPU_EDGE_CALL)
            again = e;
        else if (e->source == 0)
            entry = e;
    }
    if (returns && entry && (unwinds || never_returns(walk, frame)))
        return entry;
    return returns ? returns : entry ? entry : again;
}

void walk_count_entry(struct trace_walk *walk, const struct frame *frame, uint32_t piece,
                      bool unwinds) {
    const struct path_edge *e =
        frame->loaded->module->ticks ? find_entry(walk, frame, piece, unwinds) : NULL;
    if (e)
        walk_count(walk, frame, e);
}

uint64_t walk_interrupt_counts(struct trace_walk *walk, const struct frame *frame,
                               uint64_t address) {
    uint64_t above = ticks_above(frame->loaded, address);
    walk_count_of(walk, frame)->ticks -= above;
    return above;
}

void walk_resume_counts(struct trace_walk *walk) {
    const size_t count = walk->frames.count;
    if (count > 1)
        walk_count_of(walk, &walk->frames.data[count - 2])->ticks +=
            walk->frames.data[count - 1].above;
    for (size_t i = 0; count == 0 && i < walk->thread->process->modules.count; i++)
        walk->counts[i].known = false;
}

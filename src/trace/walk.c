/* walk.c: regenerates what a thread executed from its records; see trace.h.
 *
 * The walk is at an instruction of the innermost function, the last of `frames`. It goes on to the
 * next record: the path there has none, and is the only one (route.c). A sync says by itself where
 * it is. So after a call the walk need not know whether its callee has records: the next sync is
 * that of an instrumented function's begin, or that behind the call. If that is not where the call
 * or return itself leads, as the stack pointer tells, other code has run between: a gap.
 *
 * The walk follows the values of registers as the shim did (x86/computation.h), and gets those that
 * cannot be followed from the records.
 *
 * Not perfect: where the thread's records end, the walk goes on to the next point at which control
 * leaves the function, or at which a record would be. If a signal or another thread ended the
 * process, that may be too far. */
#include "trace/walk.h"

#include "format/notes.h"
#include "trace/point.h"
#include "x86/computation.h"

#include <stdlib.h>
#include <string.h>

static struct frame *innermost(struct trace_walk *walk) {
    return walk->frames.count ? &walk->frames.data[walk->frames.count - 1] : NULL;
}

static const struct piece *piece_of(const struct frame *frame) {
    return &frame->function->pieces[frame->piece];
}

static void enter_piece(struct frame *frame, uint32_t piece) {
    frame->piece = piece;
    frame->index = 0;
    frame->read = !frame->function->pieces[piece].record;
    frame->calls = false;
    frame->tail = 0;
}

/* Returns how control comes to the piece from the outside, of enum piece_entries. */
static uint8_t find_entries(const struct traced_function *function, uint32_t piece) {
    uint8_t found = ENTERED_KNOWN;
    if (function->pieces[piece].entries)
        return function->pieces[piece].entries;
    for (uint32_t i = 0; i < function->edge_count; i++) {
        const struct path_edge *edge = &function->edges[i];
        if (edge->source != 0 || edge->target != piece + 1)
            continue;
        found |= edge->kind == QUIPU_EDGE_ENTRY ? ENTERED_BY_CALL : 0;
        found |= edge->kind == QUIPU_EDGE_PAD ? ENTERED_BY_UNWINDER : 0;
    }
    function->pieces[piece].entries = found;
    return found;
}

/* Returns the first piece of the block that contains PIECE: pieces of a block follow each other by
 * edges without records. */
static uint32_t block_begin(const struct traced_function *function, uint32_t piece) {
    while (piece > 0 && function->pieces[piece - 1].fragment == function->pieces[piece].fragment) {
        const struct piece *before = &function->pieces[piece - 1];
        bool falls = before->edge_count == 1 && !before->padding &&
                     function->edges[before->first_edge].target == piece + 1 &&
                     function->edges[before->first_edge].kind == QUIPU_EDGE_FALL &&
                     before->offset + before->size == function->pieces[piece].offset;
        uint32_t others = 0;
        for (uint32_t i = 0; i < function->edge_count; i++)
            others += function->edges[i].target == piece + 1;
        if (!falls || others != 1)
            break;
        piece--;
    }
    return piece;
}

/* Whether a sync is on the edge behind a call. Others are on the edge behind a block to which
 * control comes from elsewhere, if that block has no room for it. */
static bool is_behind_call(const struct traced_function *function, const struct record_note *note) {
    return note->piece == NONE_OF && function->edges[note->edge].kind != QUIPU_EDGE_FALL;
}

/* Returns the piece to which control comes with a sync. */
static uint32_t begin_of(const struct traced_function *function, struct record_note *note) {
    if (note->begin == NONE_OF && is_behind_call(function, note))
        note->begin = function->edges[note->edge].target - 1;
    else if (note->begin == NONE_OF)
        note->begin =
            block_begin(function, note->piece != NONE_OF ? note->piece
                                                         : function->edges[note->edge].source - 1);
    return note->begin;
}

/* Whether FRAME waits at the stack pointer of the sync that is next. */
static bool waits_there(const struct trace_walk *walk, const struct frame *frame) {
    return frame->known & REGISTER_RSP && frame->values[STACK_POINTER] == walk->item.stack;
}

/* The sync that is next is behind a call, or a landing pad, as ENTRIES tells: makes the frame that
 * waits there the innermost one. Returns false if there is none. */
static bool find_waiting(struct trace_walk *walk, uint8_t entries) {
    const struct item *item = &walk->item;
    size_t found = walk->frames.count;
    while (found > 0) {
        const struct frame *frame = vector_at(&walk->frames, found - 1);
        if (frame->function == item->function && frame->calls && !frame->tail &&
            frame->entry >= item->stack &&
            (waits_there(walk, frame) || entries & ENTERED_BY_UNWINDER))
            break;
        found--;
    }
    bool same = found && waits_there(walk, &walk->frames.data[found - 1]);
    if (!same && resume_suspended(walk, item->function, item->stack))
        return true;
    if (found)
        suspend_frames(walk, found);
    return found;
}

/* Control has come to PIECE of FRAME, with the sync ITEM. UNWINDS: what the frame has called is
 * traced, and has not returned. */
static void enter_at_sync(struct trace_walk *walk, struct frame *frame, const struct item *item,
                          uint32_t piece, bool unwinds) {
    const struct record_note *note = &frame->function->records[item->record];
    if (is_behind_call(frame->function, note))
        walk_count(walk, frame, &frame->function->edges[note->edge]);
    else
        walk_count_entry(walk, frame, piece, unwinds);
    enter_piece(frame, piece);
}

/* Control has come from elsewhere to the sync ITEM: a function begins, a call returns, or the
 * unwinder has come to a landing pad. */
static void arrive(struct trace_walk *walk) {
    struct item item = walk->item;
    struct traced_function *function = item.function;
    struct record_note *note = &function->records[item.record];
    uint32_t piece = begin_of(function, note);
    bool behind_call = is_behind_call(function, note);
    uint8_t entries = behind_call ? 0 : find_entries(function, piece);
    bool begins = entries & ENTERED_BY_CALL;
    size_t count = walk->frames.count;
    if (!begins && !walk->interrupts && find_waiting(walk, entries)) {
        struct frame *waiting = innermost(walk);
        came_directly(walk, waits_there(walk, waiting) ? item.stack : 0, true);
        enter_at_sync(walk, waiting, &item, piece, walk->frames.count < count);
        if (behind_call)
            take_record(walk, waiting, item.record);
        return;
    }
    struct frame frame = {.function = function,
                          .loaded = item.loaded,
                          .entry = item.stack,
                          .begun = begins,
                          .chain =
                              begins ? find_chain(walk, item.stack) : (uint32_t)walk->frames.count,
                          .last = NONE_OF,
                          .handler = walk->interrupts,
                          .above = walk->above,
                          .leaving = walk->leaving};
    if (walk->interrupts) {
        walk->leaving.leaves = false;
        frame.interrupted = (uint32_t)walk->interrupted_calls.count;
        keep_call(walk);
    } else {
        frame.direct = came_directly(walk, item.stack, !begins);
    }
    walk->interrupts = false;
    walk->above = 0;
    enter_at_sync(walk, &frame, &item, piece, false);
    frame.values[STACK_POINTER] = item.stack;
    frame.known = REGISTER_RSP;
    if (behind_call)
        take_record(walk, &frame, item.record);
    vector_push(&walk->arena, &walk->frames, frame);
}

/* The innermost function returns, or jumps to another one. A handler's frame stays until the record
 * behind it. */
static void leave_function(struct trace_walk *walk, struct frame *frame) {
    if (frame->handler)
        frame->calls = true;
    else
        walk->frames.count--;
}

/* A handler has returned: goes on where it has interrupted the thread. */
static void resume(struct trace_walk *walk) {
    skip_record(walk, BYTES_SIGNALS, QUIPU_TRACE_RESUMED_SIZE);
    while (walk->frames.count && !innermost(walk)->handler)
        walk->frames.count--;
    walk_resume_counts(walk);
    if (!walk->frames.count)
        return;
    walk->leaving = innermost(walk)->leaving;
    return_to_call(walk, innermost(walk)->interrupted);
    walk->frames.count--;
}

/* Follows EDGE, which the frame's piece ends with, or a hub behind it. */
static void follow(struct trace_walk *walk, struct frame *frame, uint32_t edge, struct goal goal) {
    const struct traced_function *function = frame->function;
    const struct path_edge *e = &function->edges[edge];
    CHECK(function->edges && edge < function->edge_count);
    walk_count(walk, frame, e);
    if (e->kind == QUIPU_EDGE_CALL)
        call_untraced(walk, frame);
    if (has_tail_result(function, e)) {
        leave_by_tail(walk, frame, e);
        return;
    }
    if (e->record)
        take_record(walk, frame, e->record - 1);
    if (e->target == 0) {
        leave_traced(walk, frame, walk->frames.count > 1 ? frame - 1 : NULL, e);
        if (e->kind == QUIPU_EDGE_RETURN || hands_over(frame, e))
            leave_function(walk, frame);
        else
            frame->calls = true;
        return;
    }
    if (e->target <= function->piece_count) {
        enter_piece(frame, e->target - 1);
        return;
    }
    uint32_t next = find_route(&walk->trace->arena, frame->function, e->target, goal);
    if (next == NONE_OF) { /* the record is of a caller, which is the same function */
        goal = (struct goal){GOAL_OUTSIDE, 0};
        next = find_route(&walk->trace->arena, frame->function, e->target, goal);
    }
    if (next == NONE_OF)
        walk_fail(walk, "an indirect jump leads to none of its targets");
    else
        follow(walk, frame, next, goal);
}

/* The way to a site leads to the record in front of its piece, which comes first, or to the piece.
 */
static struct goal goal_of_site(const struct traced_function *function, uint32_t piece) {
    uint32_t record = function->pieces[piece].record;
    return record ? (struct goal){GOAL_RECORD, record - 1} : (struct goal){GOAL_PIECE, piece};
}

/* Whether the thread has taken a ticket here, or has recorded what the call ahead accesses: the
 * next record has it. */
static bool is_at_site(struct trace_walk *walk, const struct frame *frame) {
    const struct item *item = peek(walk);
    if (item->kind != QUIPU_TRACE_ORDER && item->kind != QUIPU_TRACE_MEASURED)
        return false;
    if (!frame) /* the walk has not come to a sync yet: a child begins within a function */
        return true;
    if (item->bare)
        return frame->calls;
    return !frame->calls && frame->read && item->function == frame->function &&
           item->piece == frame->piece;
}

/* Returns where in FRAME's function the signal came of the next record, which is a handler's. */
static struct point point_of_handler(struct trace_walk *walk, const struct frame *frame) {
    const struct item *item = peek(walk);
    uint64_t address = item->interrupted - frame->loaded->bias;
    return item->in_call ? find_call_point(&walk->trace->arena, frame->function, address)
                         : find_point(&walk->trace->arena, frame->function, address);
}

/* The goal of the path from here, by the next record. */
static struct goal find_goal(struct trace_walk *walk, const struct frame *frame) {
    const struct item *item = peek(walk);
    struct goal outside = {GOAL_OUTSIDE, 0};
    if (item->kind == QUIPU_TRACE_HANDLER) {
        struct point point = point_of_handler(walk, frame);
        if (!point.known)
            return outside;
        if (point.record != NONE_OF)
            return (struct goal){GOAL_RECORD, point.record};
        return (struct goal){GOAL_PIECE, point.piece};
    }
    if (item->kind == QUIPU_TRACE_ORDER || item->kind == QUIPU_TRACE_MEASURED)
        return item->function == frame->function ? goal_of_site(frame->function, item->piece)
                                                 : outside;
    if (item->kind == QUIPU_TRACE_SYNC)
        return item->function == frame->function && !is_tail_of_caller(walk, frame)
                   ? (struct goal){GOAL_RECORD, item->record}
                   : outside;
    if (item->kind == QUIPU_TRACE_FIRST && item->id < frame->function->id_count) {
        uint32_t record = frame->function->record_of_id[item->id];
        if (record)
            return (struct goal){GOAL_RECORD, record - 1};
    }
    return outside;
}

/* Whether records are missing behind the last one that was read. */
static bool is_at_break(struct trace_walk *walk) {
    const struct traced_thread *thread = walk->thread;
    if (peek(walk)->kind != QUIPU_TRACE_END || walk->fault)
        return false;
    return walk->chunk + 1 < thread->chunks.count ||
           ((window_is_set(&walk->trace->window) || walk->trace->dropped) &&
            chunk_is_full(&thread->chunks.data[walk->chunk]));
}

/* Returns the record that control comes to first if the call at the end of PIECE returns; or
 * NONE_OF. */
static uint32_t record_behind_call(const struct traced_function *function, uint32_t piece) {
    const struct piece *source = &function->pieces[piece];
    const struct path_edge *e = NULL;
    for (uint32_t i = 0; i < source->edge_count; i++)
        if (function->edges[source->first_edge + i].kind == QUIPU_EDGE_CALL)
            e = &function->edges[source->first_edge + i];
    for (uint32_t turns = 0; e && turns < function->piece_count; turns++) {
        if (e->record)
            return e->record - 1;
        if (e->target == 0 || e->target > function->piece_count)
            return NONE_OF;
        const struct piece *target = &function->pieces[e->target - 1];
        if (target->record)
            return target->record - 1;
        e = target->edge_count == 1 ? &function->edges[target->first_edge] : NULL;
        if (e && e->kind != QUIPU_EDGE_FALL)
            return NONE_OF;
    }
    return NONE_OF;
}

/* Whether the sync that is next, GOAL, is directly behind the call at the end of FRAME's piece,
 * which EDGE leaves, but with another stack pointer: it is of another frame of the function. */
static bool is_elsewhere(struct trace_walk *walk, const struct frame *frame, uint32_t edge,
                         struct goal goal) {
    const struct traced_function *function = frame->function;
    return function->edges[edge].kind == QUIPU_EDGE_CALL && goal.kind == GOAL_RECORD &&
           function->records[goal.index].sync && frame->known & REGISTER_RSP &&
           walk->item.kind == QUIPU_TRACE_SYNC &&
           walk->item.stack != frame->values[STACK_POINTER] &&
           record_behind_call(function, frame->piece) == goal.index;
}

/* The frame's piece is done: goes on to the next one, or leaves the function. */
static void leave_piece(struct trace_walk *walk, struct frame *frame) {
    const struct piece *piece = piece_of(frame);
    struct goal goal = {GOAL_OUTSIDE, 0};
    uint32_t edge = piece->first_edge;
    bool single =
        piece->edge_count == 1 && (!frame->function->edges[edge].record ||
                                   has_tail_result(frame->function, &frame->function->edges[edge]));
    if (!single && is_at_break(walk)) { /* only the missing records tell the path */
        walk->frames.count = 0;
        return;
    }
    if (!single) {
        goal = find_goal(walk, frame);
        edge = find_route(&walk->trace->arena, frame->function, frame->piece + 1, goal);
        bool returns = edge != NONE_OF && is_elsewhere(walk, frame, edge, goal);
        if (edge == NONE_OF || returns) {
            goal = (struct goal){GOAL_OUTSIDE, 0};
            edge = find_route(&walk->trace->arena, frame->function, frame->piece + 1, goal);
        }
    } else if (frame->function->edges[edge].target > frame->function->piece_count) {
        goal = find_goal(walk, frame);
    }
    if (edge == NONE_OF && peek(walk)->kind == QUIPU_TRACE_END)
        walk->frames.count = 0; /* the next record would be here */
    else if (edge == NONE_OF)
        walk_fail(walk, "no path leads to the next record");
    else
        follow(walk, frame, edge, goal);
}

/* Whether RECORD is the next thing that control comes to in the frame. */
static bool is_ahead(const struct frame *frame, uint32_t record) {
    const struct piece *piece = piece_of(frame);
    if (!frame->read)
        return piece->record == record + 1;
    for (uint32_t i = 0; frame->index == piece->count && i < piece->edge_count; i++)
        if (frame->function->edges[piece->first_edge + i].record == record + 1)
            return true;
    return false;
}

/* Whether ADDRESS is in no traced function: in a library, which was called from a place that is not
 * known. */
static bool is_outside(const struct trace_walk *walk, uint64_t address) {
    const struct traced_process *process = walk->thread->process;
    for (size_t i = 0; i < process->modules.count; i++) {
        const struct loaded_module *loaded = &process->modules.data[i];
        if (is_in_function(loaded->module, address - loaded->bias))
            return false;
    }
    return true;
}

/* Whether the frame, which is active, leaves traced code on its way without records: by a call that
 * it has not made yet, a return or a jump. */
static bool may_leave(struct trace_walk *walk, const struct frame *frame) {
    const struct piece *piece = piece_of(frame);
    struct goal outside = {GOAL_OUTSIDE, 0};
    bool calls = piece->count && is_call_class(piece->instructions[piece->count - 1].decoded.class);
    if (calls)
        return frame->index < piece->count;
    return find_route(&walk->trace->arena, frame->function, frame->piece + 1, outside) != NONE_OF;
}

/* Whether a signal has interrupted the thread here: the next record is the handler's. Where that is
 * not known, it is here, behind the last record. */
static bool is_interrupted_here(struct trace_walk *walk, const struct frame *frame) {
    const struct item *item = peek(walk);
    if (item->kind != QUIPU_TRACE_HANDLER)
        return false;
    if (frame->calls)
        return true;
    struct point point = point_of_handler(walk, frame);
    if (item->in_call)
        return point.known ? point.piece == frame->piece && point.index == frame->index
                           : !frame->read || !may_leave(walk, frame);
    if (!point.known) /* in a library, or in code out of line */
        return !frame->read || (is_outside(walk, item->interrupted) && !may_leave(walk, frame));
    if (point.record == NONE_OF)
        return point.piece == frame->piece && point.index == frame->index &&
               (frame->read || point.index == 0);
    if (point.done)
        return frame->last == point.record && frame->index == 0 && frame->read;
    return is_ahead(frame, point.record);
}

static void emit(struct trace_walk *walk, struct frame *frame) {
    const struct piece *piece = piece_of(frame);
    const struct traced_instruction *instruction = &piece->instructions[frame->index++];
    struct trace_step *step = &walk->step;
    uint64_t next = instruction->address + instruction->decoded.size + frame->loaded->bias;
    emit_gap(walk, frame);
    step->function = frame->function;
    step->piece = piece;
    step->instruction = instruction;
    step->address = instruction->shown + frame->loaded->bias;
    const struct tick_count *count = walk_count_of(walk, frame);
    step->ticks = count->ticks;
    step->counted = count->known ? count->thread : 0;
    frame->values[VALUE_ZERO] = 0;
    frame->values[VALUE_BIAS] = frame->loaded->bias;
    frame->values[VALUE_THREAD] = walk->values.general.fs_base;
    if (instruction->effect.kind != EFFECT_LONG) {
        take_effect(walk, frame, instruction);
        return;
    }
    step->references.count = 0;
    walk->stack_known = frame->known & REGISTER_RSP;
    walk->stack = frame->values[STACK_POINTER];
    take_accesses(walk, frame, &instruction->decoded, next);
    frame->has_vectors = false;
    if (is_call_class(instruction->decoded.class)) { /* which leaves registers unknown */
        note_call(walk, frame);
        frame->call = instruction;
    } else if (instruction->decoded.class == CLASS_SYSTEM) {
        note_call(walk, frame);
    }
    frame->known = follow_registers(&instruction->decoded, next, frame->values, frame->known);
}

/* Goes on without executing an instruction of the frame. Returns false at the end. */
static bool advance(struct trace_walk *walk, struct frame *frame) {
    const struct item *item;
    if (frame && is_interrupted_here(walk, frame)) {
        walk->interrupts = true;
        if (!frame->calls)
            walk->above = walk_interrupt_counts(walk, frame, walk->item.interrupted);
        skip_record(walk, BYTES_SIGNALS, QUIPU_TRACE_HANDLER_SIZE);
        item = peek(walk);
        if (item->kind != QUIPU_TRACE_SYNC || !item->function) {
            walk_fail(walk, "a signal handler has no begin");
            return false;
        }
        arrive(walk);
        return true;
    }
    if (frame && !frame->calls) {
        if (!frame->read) {
            uint32_t record = piece_of(frame)->record - 1;
            if (!is_next(peek(walk), frame, record)) {
                if (peek(walk)->kind != QUIPU_TRACE_END)
                    walk_fail(walk, "a record is missing");
                return false;
            }
            take_record(walk, frame, record);
            frame->read = true;
        } else {
            leave_piece(walk, frame);
        }
        return true;
    }
    item = peek(walk);
    if (item->kind == QUIPU_TRACE_HANDLER) {
        walk->interrupts = true;
        skip_record(walk, BYTES_SIGNALS, QUIPU_TRACE_HANDLER_SIZE);
        return true;
    }
    if (item->kind == QUIPU_TRACE_END)
        return false;
    if (item->kind == QUIPU_TRACE_RESUMED) {
        resume(walk);
        return true;
    }
    if (item->kind != QUIPU_TRACE_SYNC || !item->function) {
        walk_fail(walk, "a record is of no known code");
        return false;
    }
    if (is_tail_result(item))
        take_tail_result(walk);
    else
        arrive(walk);
    return true;
}

/* Whether nothing of the thread has run yet, and its records begin here with a start: it is a child
 * of fork, and goes on in functions of its parent. */
static bool may_inherit(struct trace_walk *walk) {
    const struct traced_chunk *chunk = &walk->thread->chunks.data[walk->chunk];
    return !walk->frames.count && !walk->step.instruction && !walk->inherits && chunk->start &&
           peek(walk)->kind == QUIPU_TRACE_SYNC && walk->next == walk->start + chunk->start;
}

/* Goes on behind records that are missing. Returns false if there are none. */
static bool pass_break(struct trace_walk *walk) {
    if (!is_at_break(walk) || walk->chunk + 1 >= walk->thread->chunks.count)
        return false;
    walk->chunk++;
    enter_chunk(walk);
    walk->leaving.leaves = walk->interrupts = false;
    walk->interrupted_calls.count = 0;
    walk->gap = (struct trace_gap){0};
    walk->skipped = true;
    forget_suspended(walk);
    walk_begin_with_start(walk);
    return true;
}

bool trace_step_or_ticket(struct trace_walk *walk, struct trace_step **step, uint64_t *ticket) {
    *step = trace_straight_step(walk);
    if (*step)
        return true;
    walk->straight = NULL;
    while (!walk->ended) {
        struct frame *frame = innermost(walk);
        if ((!frame || frame->calls || frame->index == 0) && is_at_site(walk, frame)) {
            if (walk->item.kind == QUIPU_TRACE_MEASURED) {
                take_measured(walk);
                continue;
            }
            *step = NULL;
            *ticket = walk->item.ticket;
            skip_record(walk, BYTES_ORDER, QUIPU_TRACE_ORDER_SIZE);
            return true;
        }
        if (!frame && may_inherit(walk)) {
            walk->inherits = true;
            walk_begin_with_start(walk);
            continue;
        }
        if (frame && !frame->calls && frame->read) {
            struct piece *piece = &frame->function->pieces[frame->piece];
            if (!piece->instructions)
                decode_piece(&walk->trace->arena, frame->function, piece);
            if (frame->index < piece->count && !is_interrupted_here(walk, frame)) {
                emit(walk, frame);
                if (!walk_gives(walk))
                    continue;
                begin_straight(walk, frame);
                *step = &walk->step;
                return true;
            }
        }
        if (walk->fault || (!advance(walk, frame) && !pass_break(walk)))
            return false;
    }
    return false;
}

bool trace_step(struct trace_walk *walk, struct trace_step **step) {
    uint64_t ticket;
    *step = NULL;
    while (!*step)
        if (!trace_step_or_ticket(walk, step, &ticket))
            return false;
    return true;
}

bool trace_step_behind(struct trace_walk *walk, struct trace_step **step) {
    if (!walk->ended || walk->end_chunk == SIZE_MAX)
        return false;
    walk->end_chunk = SIZE_MAX;
    walk->ended = walk->ends = false;
    return trace_step(walk, step);
}

const char *trace_fault(const struct trace_walk *walk) {
    return walk->fault;
}

struct trace_gap trace_last_gap(const struct trace_walk *walk, const reference_list **references) {
    static const reference_list none;
    const struct traced_thread *thread = walk->thread;
    *references = &none;
    if (walk->where == BETWEEN_BEHIND) { /* it is in front of an instruction that is not given */
        *references = &walk->step.gap_references;
        return walk->step.gap;
    }
    if (walk->ended || walk->skipped)
        return (struct trace_gap){0};
    if (walk->trace->dropped && chunk_is_full(&thread->chunks.data[walk->chunk]))
        return (struct trace_gap){.missing = 1};
    return walk->leaving.leaves ? walk->leaving.gap : walk->gap;
}

struct record_position trace_position(const struct trace_walk *walk) {
    return walk->position;
}

struct record_position trace_next_position(const struct trace_walk *walk) {
    return (struct record_position){walk->thread->chunks.data[walk->chunk].number,
                                    (uint32_t)(walk->next - walk->start)};
}

const struct record_sums *trace_record_sums(const struct trace_walk *walk) {
    return &walk->taken;
}

struct trace_walk *trace_begin_part(struct trace *trace, const struct traced_thread *thread,
                                    struct chunk_range range) {
    struct trace_walk *walk = calloc(1, sizeof *walk);
    struct trace_step *step;
    CHECK(walk);
    walk->trace = trace;
    walk->thread = thread;
    walk->chunk = range.first;
    walk->end_chunk = range.end < thread->chunks.count ? range.end : SIZE_MAX;
    walk_begin_counts(walk);
    vector_reserve(&walk->arena, &walk->step.references); /* for take_effect */
    if (range.first >= range.end) {
        walk->ended = true;
        return walk;
    }
    enter_chunk(walk);
    walk->skipped = thread->chunks.data[range.first].broken;
    if (range.first > 0 || walk->skipped)
        walk_begin_with_start(walk);
    if (range.first > 0) { /* the walk in front of this one ended behind the first instruction */
        walk->repeats = true;
        trace_step(walk, &step);
    }
    return walk;
}

const struct trace_step *trace_step_before(const struct trace_walk *walk) {
    return walk->step.instruction ? &walk->step : NULL;
}

struct trace_walk *trace_begin(struct trace *trace, const struct traced_thread *thread) {
    struct chunk_range range = {0, thread->chunks.count};
    if (trace->parts)
        range = trace_part(trace, thread, trace->part, trace->parts);
    if (trace->between && range.end)
        range = trace_chunks_from(trace, thread);
    struct trace_walk *walk = trace_begin_part(trace, thread, range);
    walk->between = trace->between;
    return walk;
}

void trace_end(struct trace_walk *walk) {
    gap_names_release(&walk->gap_names);
    arena_release(&walk->arena);
    free(walk);
}

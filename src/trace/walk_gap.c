/* walk_gap.c: what ran outside of the trace; see walk.h.
 *
 * A call, jump or return that leaves traced code leads to a sync with a certain stack pointer, if
 * traced code is there. If the next sync has another one, or is that behind the call, other code
 * has run: a gap. If it began with a call of a known function of the C library, the function's
 * arguments and result tell what it accessed, and which blocks of the heap it allocated and freed.
 *
 * Not perfect: a function that calls back is two gaps. The first one has its accesses, without
 * those that depend on the result. */
#include "trace/walk.h"

#include "format/notes.h"
#include "symbols/binary.h"

#include <string.h>

/* ---- what has run ---- */

struct trace_gap gap_of(const struct traced_function *function, const struct frame *frame) {
    struct trace_gap gap = {.function = frame ? frame->function : function};
    const struct piece *piece = frame ? &frame->function->pieces[frame->piece] : NULL;
    if (piece && piece->count)
        gap.call = &piece->instructions[piece->count - 1];
    return gap;
}

/* Returns how many of the measured ranges are of calls that signal handlers have interrupted. */
static size_t count_of_interrupted(const struct trace_walk *walk) {
    size_t calls = walk->interrupted_calls.count;
    return calls ? walk->interrupted_calls.data[calls - 1].count : 0;
}

/* Adds the number of the system call that the last call or jump of GAP has made. */
static void add_system_call(const struct trace_walk *walk, struct trace_gap *gap) {
    const struct noted_call *call = &walk->call;
    if (!gap->call)
        return;
    for (size_t i = call->first; i < call->end; i++)
        if (walk->measured.data[i].flags & QUIPU_MEASURED_CALL)
            gap->system_call = walk->measured.data[i].address + 1;
}

void note_call(struct trace_walk *walk, const struct frame *frame) {
    struct noted_call *call = &walk->call;
    call->values.known = frame->known;
    call->values.has_result = false;
    memcpy(call->values.arguments, frame->values, sizeof call->values.arguments);
    size_t kept = count_of_interrupted(walk);
    call->first = call->end > kept ? call->end : kept;
    call->end = walk->measured.count;
}

void keep_call(struct trace_walk *walk) {
    walk->call.count = walk->measured.count;
    vector_push(&walk->arena, &walk->interrupted_calls, walk->call);
}

void return_to_call(struct trace_walk *walk, size_t number) {
    walk->call = *vector_at(&walk->interrupted_calls, number);
    walk->interrupted_calls.count = number;
    walk->measured.count = walk->call.count;
}

void take_measured(struct trace_walk *walk) {
    const uint8_t *at = peek(walk)->at;
    struct noted_call *call = &walk->call;
    size_t count = walk->measured.count, kept = count_of_interrupted(walk);
    if (count == kept || count == call->end) { /* those of the last call are not needed any more */
        call->first = call->end = kept;
        walk->measured.count = kept;
    }
    struct measured_range range = {at[5], number_at(at + 6, 8), number_at(at + 14, 8)};
    vector_push(&walk->arena, &walk->measured, range);
    skip_record(walk, BYTES_MEASURED, QUIPU_TRACE_MEASURED_SIZE);
}

/* Whether control runs out of the function's text by E: behind its last instruction another
 * function begins. */
static bool runs_out(const struct frame *frame, const struct path_edge *e) {
    const struct piece *piece = &frame->function->pieces[frame->piece];
    if (e->kind == QUIPU_EDGE_NOT_TAKEN)
        return true;
    return e->kind == QUIPU_EDGE_STOP && piece->edge_count == 1 && piece->count &&
           piece->instructions[piece->count - 1].decoded.class == CLASS_PLAIN;
}

static bool jumps(const struct path_edge *e) {
    return e->kind == QUIPU_EDGE_TAIL || e->kind == QUIPU_EDGE_TAKEN;
}

bool hands_over(const struct frame *frame, const struct path_edge *e) {
    return jumps(e) || runs_out(frame, e);
}

void leave_traced(struct trace_walk *walk, const struct frame *frame, const struct frame *caller,
                  const struct path_edge *e) {
    struct leaving *leaving = &walk->leaving;
    uint64_t stack = frame->values[STACK_POINTER];
    bool known = frame->known & REGISTER_RSP;
    *leaving = (struct leaving){.leaves = true, .gap = gap_of(frame->function, frame)};
    leaving->gap.behind = runs_out(frame, e);
    if (e->kind == QUIPU_EDGE_RETURN) {
        bool switches = known && frame->begun && stack != frame->entry + 8; /* to another stack */
        leaving->gap = gap_of(frame->function, caller && caller->calls ? caller : NULL);
        leaving->known = frame->direct || switches;
        leaving->resumes = known && !frame->begun; /* as in a child, behind fork */
        leaving->stack = known ? stack : frame->entry + 8;
        return;
    }
    if (jumps(e))
        note_call(walk, frame);
    leaving->calls = !leaving->gap.behind;
    add_system_call(walk, &leaving->gap);
    if (hands_over(frame, e)) {
        leaving->known = true;
        leaving->stack = known ? stack : frame->entry;
    } else {
        leaving->known = frame->known & REGISTER_RSP;
        leaving->stack = frame->values[STACK_POINTER] - 8;
    }
}

bool came_directly(struct trace_walk *walk, uint64_t stack, bool resumes) {
    const struct leaving *leaving = &walk->leaving;
    bool known = leaving->known || (resumes && leaving->resumes);
    bool direct = leaving->leaves && known && leaving->stack == stack;
    if (leaving->leaves && !direct) {
        walk->gap = leaving->gap;
        walk->gap_calls = leaving->calls;
    }
    walk->leaving.leaves = false;
    return direct;
}

void call_untraced(struct trace_walk *walk, const struct frame *frame) {
    walk->gap = gap_of(frame->function, frame);
    add_system_call(walk, &walk->gap);
    walk->gap_calls = true;
}

/* ---- what it has accessed ---- */

/* Finds the function at the target of CALL by any of its names: in a static program malloc is also
 * __libc_malloc. */
static bool find_aliased_callee(const struct trace_gap *gap, struct callee *callee) {
    const struct traced_instruction *call = gap->call;
    const struct binary *binary = gap->function->module->binary;
    size_t left;
    const uint8_t *code = binary_code(binary, call->address, &left);
    if (!code || (call->decoded.class != CLASS_CALL && call->decoded.class != CLASS_JUMP))
        return false;
    uint64_t target = call->address + call->decoded.size + (uint64_t)jump_distance(code);
    for (size_t i = 0; i < binary->names.count; i++) {
        const struct symbol *symbol = &binary->names.data[i];
        if (symbol->address == target &&
            find_known_callee(symbol->name, strlen(symbol->name), callee))
            return true;
    }
    return false;
}

/* Returns the function that the gap begins with, if it is a known one; or NULL. */
static const struct callee *find_gap_callee(struct trace_walk *walk, const struct trace_gap *gap) {
    const struct traced_instruction *call = gap->call;
    uint32_t *number = map_find(&walk->callee_numbers, (const char *)&call, sizeof call);
    if (!number) {
        const char *name = gap_name(&walk->gap_names, gap);
        struct known_callee found = {0};
        found.known = find_known_callee(name, strlen(name), &found.callee) ||
                      find_aliased_callee(gap, &found.callee);
        number = map_add_copy(&walk->arena, &walk->callee_numbers, &call, sizeof call,
                              (uint32_t)walk->callees.count);
        vector_push(&walk->arena, &walk->callees, found);
    }
    const struct known_callee *callee = vector_at(&walk->callees, *number);
    return callee->known ? &callee->callee : NULL;
}

enum {
    WORD = 8,
    EXPANDED_MOST = 1 << 27 /* bytes of a reference that is cut into words: all are in memory */
};

static void add_reference(struct trace_walk *walk, const struct callee_access *access) {
    bool expands = walk->trace->expands && access->size <= EXPANDED_MOST;
    uint64_t address = access->address, left = access->size, size = left;
    for (; left; address += size, left -= size) {
        if (expands)
            size = WORD - address % WORD < left ? WORD - address % WORD : left;
        struct reference reference = {address, size, access->writes, access->sure};
        vector_push(&walk->arena, &walk->step.gap_references, reference);
    }
}

/* Adds what the thread has recorded of the call. */
static void add_measured(struct trace_walk *walk) {
    const struct noted_call *call = &walk->call;
    const struct call_values *values = &call->values;
    int64_t result = (int64_t)values->result;
    uint64_t left = result > 0 ? (uint64_t)result : 0;
    for (size_t i = call->first; i < call->end; i++) {
        const struct measured_range *range = vector_at(&walk->measured, i);
        struct callee_access access = {.address = range->address,
                                       .size = range->size,
                                       .writes = range->flags & QUIPU_MEASURED_WRITES,
                                       .sure = !(range->flags & QUIPU_MEASURED_UNSURE)};
        if (range->flags & QUIPU_MEASURED_CALL ||
            (range->flags & QUIPU_MEASURED_ZERO && (!values->has_result || (int32_t)result != 0)))
            continue;
        if (range->flags & QUIPU_MEASURED_MOVED) {
            if (!values->has_result || !values->result)
                continue;
            access.address = values->result;
        } else if (range->flags & QUIPU_MEASURED_SHARED && values->has_result) {
            access.size = access.size < left ? access.size : left;
            left -= access.size;
        } else if (range->flags & QUIPU_MEASURED_RESULT) {
            uint64_t each = access.size >> QUIPU_MEASURED_COUNT;
            uint64_t most = access.size & ((1ull << QUIPU_MEASURED_COUNT) - 1);
            if (!values->has_result)
                continue;
            access.size = left <= most / each ? left * each : most;
        } else if (range->flags & QUIPU_MEASURED_PRINTED) {
            uint64_t most = (int32_t)result < 0 ? 0 : (uint64_t)(int32_t)result + 1;
            if (!values->has_result)
                continue;
            access.size = access.size < most ? access.size : most;
        } else if (range->flags & QUIPU_MEASURED_SHARED) {
            access.sure = false;
        }
        if (access.size && access.address + access.size > access.address)
            add_reference(walk, &access);
    }
}

void emit_gap(struct trace_walk *walk, const struct frame *frame) {
    struct trace_step *step = &walk->step;
    struct callee_access found[CALLEE_ACCESSES_MAX];
    step->gap = walk->gap;
    step->gap_references.count = 0;
    step->changes_heap = false;
    walk->gap.function = NULL;
    if (!step->gap.function || !step->gap.call || !walk->gap_calls)
        return;
    const struct callee *callee = find_gap_callee(walk, &step->gap);
    /* A call leaves %rax unknown. So if it is known behind the call, a record has the result. */
    struct call_values *values = &walk->call.values;
    bool behind = frame->function == step->gap.function &&
                  frame->values[STACK_POINTER] == values->arguments[STACK_POINTER];
    if (behind && frame->known & REGISTER_RAX) {
        values->has_result = true;
        values->result = frame->values[0];
    }
    step->changes_heap = callee && callee_heap_change(callee, values, &step->heap);
    unsigned count = callee ? callee_accesses(callee, values, found) : 0;
    add_measured(walk); /* sources and paths, which are read before anything is written */
    for (unsigned i = 0; i < count; i++)
        add_reference(walk, &found[i]);
}

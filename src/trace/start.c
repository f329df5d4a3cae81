/* start.c: the state of a walk where a chunk begins; see walk.h.
 *
 * A chunk with a start (struct quipu_trace_start) can be read without those in front of it. Its
 * first record's code called the runtime, which noted the registers and the stack. The functions
 * that wait for a call, and the registers that they get back, follow by the rules for unwinding.
 *
 * Not perfect: below a signal handler, or a function without such rules, nothing is known. Such a
 * start is not whole, and no part of a trace begins with it. */
#include "trace/walk.h"

#include "format/notes.h"
#include "symbols/binary.h"
#include "symbols/event_tables.h"
#include "symbols/stack.h"
#include "x86/record_code.h"

#include <stdlib.h>
#include <string.h>

/* A place in a function, by its address as linked. */
struct start_place {
    uint64_t address;
    struct traced_function *function;
    uint32_t index; /* of a record, or of a piece */
};

typedef VECTOR(struct start_place) start_place_list;

/* Where the threads of a module may be when a chunk begins. */
struct start_places {
    start_place_list records; /* their code; sorted by address */
    start_place_list returns; /* behind calls: pieces that end with one; sorted by address */
};

enum start_state {
    START_UNKNOWN, /* nobody has looked */
    START_WHOLE,
    START_BAD
};

static int compare_places(const void *a, const void *b) {
    const struct start_place *first = a, *second = b;
    return (first->address > second->address) - (first->address < second->address);
}

static void add_returns(struct arena *arena, struct start_places *places,
                        struct traced_function *function) {
    for (uint32_t i = 0; i < function->piece_count; i++) {
        struct piece *piece = &function->pieces[i];
        decode_piece(arena, function, piece);
        if (!piece->count || !is_call_class(piece->instructions[piece->count - 1].decoded.class))
            continue;
        const struct traced_instruction *last = &piece->instructions[piece->count - 1];
        struct start_place place = {last->address + last->decoded.size, function, i};
        vector_push(arena, &places->returns, place);
    }
}

static const struct start_places *find_places(struct arena *arena, struct traced_module *module) {
    if (module->starts)
        return module->starts;
    struct start_places *places = module->starts = ARENA_NEW(arena, struct start_places);
    for (size_t i = 0; i < module->functions.count; i++) {
        struct traced_function *function = &module->functions.data[i];
        for (uint32_t n = 0; n < function->record_count; n++) {
            struct start_place place = {function->records[n].address, function, n};
            vector_push(arena, &places->records, place);
        }
        add_returns(arena, places, function);
    }
    qsort(places->records.data, places->records.count, sizeof *places->records.data,
          compare_places);
    qsort(places->returns.data, places->returns.count, sizeof *places->returns.data,
          compare_places);
    return places;
}

/* Returns the last place at or in front of ADDRESS, or NULL. */
static const struct start_place *find_place(const start_place_list *list, uint64_t address) {
    size_t first = 0, last = list->count;
    while (first < last) {
        size_t middle = (first + last) / 2;
        if (list->data[middle].address <= address)
            first = middle + 1;
        else
            last = middle;
    }
    return first ? &list->data[first - 1] : NULL;
}

/* ---- the innermost function ---- */

/* Returns the record whose code contains ADDRESS, of the process, and its module; or NULL. */
static const struct start_place *find_record(struct trace_walk *walk, uint64_t address,
                                             const struct loaded_module **loaded) {
    const struct traced_process *process = walk->thread->process;
    for (size_t i = 0; i < process->modules.count; i++) {
        const struct loaded_module *module = &process->modules.data[i];
        const struct start_places *places = find_places(&walk->trace->arena, module->module);
        const struct start_place *place = find_place(&places->records, address - module->bias);
        *loaded = module;
        if (place && address - module->bias - place->address <
                         place->function->records[place->index].code_size)
            return place;
    }
    return NULL;
}

/* Returns the code at ADDRESS of the process, and its SIZE, or NULL. */
static const uint8_t *code_at(const struct trace_walk *walk, uint64_t address, size_t *size) {
    const struct traced_process *process = walk->thread->process;
    const uint8_t *code = NULL;
    for (size_t i = 0; !code && i < process->modules.count; i++)
        code = binary_code(process->modules.data[i].module->binary,
                           address - process->modules.data[i].bias, size);
    return code;
}

/* Returns the record whose code ends at ADDRESS; otherwise as above. */
static const struct start_place *find_ended_record(struct trace_walk *walk, uint64_t address,
                                                   const struct loaded_module **loaded) {
    const struct start_place *place = find_record(walk, address - 1, loaded);
    bool ends =
        place && address - (*loaded)->bias == place->function->records[place->index].address +
                                                  place->function->records[place->index].code_size;
    return ends ? place : find_record(walk, address, loaded);
}

/* Follows the code from where quipu_trace_full returns to the end of the record's code. Returns the
 * record, or NULL. */
static const struct start_place *follow_to_end(struct trace_walk *walk,
                                               struct record_code_state *state,
                                               const struct loaded_module **loaded) {
    enum {
        LONGEST_CODE = 100 /* instructions of a record's code */
    };
    const struct start_place *place = find_record(walk, state->address, loaded);
    for (int i = 0; i < LONGEST_CODE; i++) {
        if (!place) /* out of line, where a jump leads back to the end of the record's code */
            place = find_ended_record(walk, state->address, loaded);
        if (place && state->address - (*loaded)->bias - place->address >=
                         place->function->records[place->index].code_size)
            return place;
        size_t size = 0;
        const uint8_t *code = code_at(walk, state->address, &size);
        if (!code || !follow_record_code(state, code, size))
            return NULL;
    }
    return NULL;
}

/* The frame waits in front of the record of PLACE. */
static struct frame make_innermost(const struct start_place *place,
                                   const struct loaded_module *loaded,
                                   const struct record_code_state *state) {
    const struct record_note *note = &place->function->records[place->index];
    struct frame frame = {.function = place->function,
                          .loaded = loaded,
                          .last = NONE_OF,
                          .known = state->known,
                          .entry = UINT64_MAX};
    memcpy(frame.values, state->registers, sizeof frame.values);
    frame.piece =
        note->piece != NONE_OF ? note->piece : place->function->edges[note->edge].source - 1;
    const struct piece *piece = &place->function->pieces[frame.piece];
    frame.read = note->piece == NONE_OF;
    frame.index = frame.read ? piece->count : 0;
    return frame;
}

/* Returns the address at which the frame is unwound: of the program's own instruction that is next
 * or was last. The record's code may be out of line, where the unwinder's row does not have the
 * registers that the function has saved. ADDRESS: if there is no such instruction. */
static uint64_t unwinding_address(struct trace_walk *walk, const struct frame *frame,
                                  uint64_t address) {
    struct piece *piece = &frame->function->pieces[frame->piece];
    decode_piece(&walk->trace->arena, frame->function, piece);
    if (!piece->count)
        return address;
    return piece->instructions[frame->read ? piece->count - 1 : 0].address + frame->loaded->bias;
}

/* ---- its callers ---- */

static struct stack_modules *modules_of(struct traced_process *process) {
    if (process->stack_modules)
        return process->stack_modules;
    struct stack_modules *modules = process->stack_modules = stack_modules_begin();
    for (size_t i = 0; i < process->modules.count; i++)
        stack_modules_add(modules, process->modules.data[i].module->path,
                          process->modules.data[i].bias);
    for (size_t i = 0; i < process->libraries.count; i++) {
        const struct loaded_library *library = &process->libraries.data[i];
        bool traced = false; /* it got records later */
        for (size_t m = 0; m < process->modules.count; m++)
            traced |= process->modules.data[m].bias == library->bias;
        if (!traced)
            stack_modules_add(modules, library->path, library->bias);
    }
    return modules;
}

/* Returns the call that the piece of PLACE ends with. */
static const struct traced_instruction *last_call(const struct start_place *place) {
    const struct piece *piece = &place->function->pieces[place->index];
    return piece->count ? &piece->instructions[piece->count - 1] : NULL;
}

/* Sets FRAME to the function that waits in CALLER. Returns false if that has no records. */
static bool make_caller(struct trace_walk *walk, const struct stack_frame *caller,
                        struct frame *frame) {
    const struct traced_process *process = walk->thread->process;
    for (size_t i = 0; i < process->modules.count; i++) {
        const struct loaded_module *loaded = &process->modules.data[i];
        const struct start_places *places = find_places(&walk->trace->arena, loaded->module);
        uint64_t address = caller->address - loaded->bias;
        const struct start_place *place = find_place(&places->returns, address);
        if (!place || place->address != address)
            continue;
        *frame = (struct frame){.function = place->function,
                                .loaded = loaded,
                                .piece = place->index,
                                .index = place->function->pieces[place->index].count,
                                .read = true,
                                .last = NONE_OF,
                                .calls = true,
                                .call = last_call(place),
                                .known = caller->known,
                                .entry = UINT64_MAX};
        memcpy(frame->values, caller->registers, sizeof frame->values);
        return true;
    }
    return false;
}

/* Makes the walk's frames of those on the stack; INNERMOST is the first one. Returns false behind a
 * signal handler, whose callers are left out. */
static bool make_frames(struct trace_walk *walk, struct frame innermost,
                        const stack_frames *stack) {
    VECTOR(struct frame) frames = {0};
    struct arena arena = {0};
    bool adjacent = true, whole = true;
    vector_push(&arena, &frames, innermost);
    for (size_t i = 1; whole && i < stack->count; i++) {
        struct frame caller;
        const struct stack_frame *next = &stack->data[i];
        struct frame *last = &frames.data[frames.count - 1];
        if (adjacent && next->known & REGISTER_RSP)
            last->entry = next->registers[STACK_POINTER] - 8;
        whole = !next->interrupted;
        bool traced = whole && make_caller(walk, next, &caller);
        last->direct |= adjacent && traced;
        adjacent = traced;
        if (traced)
            vector_push(&arena, &frames, caller);
    }
    whole &=
        !adjacent; /* something has called the outermost one: the copy of the stack ends early */
    walk->frames.count = 0;
    for (size_t i = frames.count; i-- > 0;) {
        struct frame frame = frames.data[i];
        const size_t index = walk->frames.count;
        frame.begun = frame.entry != UINT64_MAX;
        frame.chain = frame.direct ? walk->frames.data[index - 1].chain : (uint32_t)index;
        vector_push(&walk->arena, &walk->frames, frame);
    }
    arena_release(&arena);
    return whole;
}

/* Returns the stack pointer at the first record of a thread that begins within a function, as that
 * of a forked process does; or UINT64_MAX. */
static uint64_t find_origin(struct trace_walk *walk) {
    struct traced_chunk *chunk = walk->thread->chunks.data;
    struct trace_step *step;
    if (walk->chunk == 0)
        return UINT64_MAX;
    if (chunk->origin)
        return chunk->origin;
    struct trace_walk *first =
        trace_begin_part(walk->trace, walk->thread, (struct chunk_range){0, 1});
    chunk->origin = UINT64_MAX;
    if (trace_step(first, &step) && first->frames.count && !first->frames.data[0].begun)
        chunk->origin = first->frames.data[0].entry;
    trace_end(first);
    return chunk->origin;
}

/* Who reads the thread from its begin does not know where these frames begin. Nor does a part. */
static void forget_begins(struct trace_walk *walk) {
    uint64_t origin = find_origin(walk);
    for (size_t i = 0; i < walk->frames.count; i++)
        walk->frames.data[i].begun &= walk->frames.data[i].entry < origin;
}

bool walk_start(struct trace_walk *walk) {
    const struct traced_chunk *chunk = &walk->thread->chunks.data[walk->chunk];
    struct quipu_trace_start start;
    const struct loaded_module *loaded;
    walk->frames.count = 0;
    walk_start_counts(walk, 0);
    if (chunk->start < sizeof start)
        return false;
    memcpy(&start, walk->start, sizeof start);
    struct record_code_state state = {.address = start.address,
                                      .known = REGISTERS_ALL,
                                      .stack = walk->start + sizeof start,
                                      .stack_begin = start.registers[STACK_POINTER],
                                      .stack_size = chunk->start - sizeof start};
    memcpy(state.registers, start.registers, sizeof state.registers);
    const struct start_place *place = follow_to_end(walk, &state, &loaded);
    if (!place)
        return false;
    struct frame innermost = make_innermost(place, loaded, &state);
    uint64_t skipped = state.registers[STACK_POINTER] - start.registers[STACK_POINTER];
    if (skipped > state.stack_size)
        return false;
    struct stack_copy copy = {.address = unwinding_address(walk, &innermost, state.address),
                              .bytes = state.stack + skipped,
                              .size = state.stack_size - skipped};
    memcpy(copy.registers, state.registers, sizeof copy.registers);
    struct arena arena = {0};
    stack_frames stack = {0};
    bool whole = stack_unwind(&arena, modules_of(walk->thread->process), &copy, &stack);
    whole &= make_frames(walk, innermost, &stack);
    forget_begins(walk);
    walk_start_counts(walk, place->address + loaded->bias);
    arena_release(&arena);
    return whole;
}

/* ---- parts ---- */

struct chunk_range trace_chunks_from(struct trace *trace, const struct traced_thread *thread) {
    const struct trace_bound *from = &trace->between->from;
    size_t first = 0, last = thread->chunks.count;
    const uint64_t above = from->name ? most_ticks_above(from->module->binary) : 0;
    while (from->name &&
           first + 1 < last) { /* chunk `first` is in front of it, or the very first */
        size_t middle = (first + last) / 2;
        struct quipu_trace_counter counter;
        if (bound_counter(from, thread, middle, &counter) && counter.begin + above < from->ticks)
            first = middle;
        else
            last = middle;
    }
    while (first > 0 && !trace_may_begin(trace, thread, first))
        first--;
    return (struct chunk_range){first, thread->chunks.count};
}

bool trace_may_begin(struct trace *trace, const struct traced_thread *thread, size_t index) {
    struct traced_chunk *chunk = &thread->chunks.data[index];
    if (chunk->whole == START_UNKNOWN) {
        struct chunk_range all = {index, SIZE_MAX};
        struct trace_walk *walk = chunk->start ? trace_begin_part(trace, thread, all) : NULL;
        chunk->whole = walk && walk->begins_whole ? START_WHOLE : START_BAD;
        if (walk)
            trace_end(walk);
    }
    return chunk->whole == START_WHOLE;
}

struct chunk_range trace_part(struct trace *trace, const struct traced_thread *thread,
                              uint32_t number, uint32_t count) {
    size_t ends[2], chunks = thread->chunks.count;
    if (trace->window.first || trace->between) /* only who reads all of them knows where they end */
        return (struct chunk_range){0, number == 0 ? chunks : 0};
    for (uint32_t i = 0; i < 2; i++) {
        ends[i] = (size_t)((uint64_t)chunks * (number + i) / count);
        while (ends[i] > 0 && ends[i] < chunks && !trace_may_begin(trace, thread, ends[i]))
            ends[i]++;
    }
    return (struct chunk_range){ends[0], ends[1]};
}

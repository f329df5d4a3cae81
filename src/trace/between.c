/* between.c: what a thread executed between two moments; see between.h.
 *
 * A walk counts ticks (walk_ticks.c), and is compared with the moments at each instruction. It
 * begins in front of the first one (start.c). */
#include "trace/between.h"

#include "symbols/event_tables.h"
#include "symbols/loop_forms.h"
#include "symbols/moment_name.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- the names ---- */

/* The instructions of the program around an address in inserted code. */
struct neighbours {
    const struct traced_function *function; /* of `next`; NULL: there is none near */
    uint32_t piece, next_piece;             /* of the last one in front of it; of the next one */
    uint64_t last, next;                    /* their addresses, as linked */
};

static void look_at_piece(struct neighbours *near, const struct traced_function *function,
                          uint32_t number, uint64_t address) {
    const struct piece *piece = &function->pieces[number];
    for (uint32_t i = 0; i < piece->count; i++) {
        uint64_t at = piece->instructions[i].address;
        if (at < address && at >= near->last) {
            near->last = at;
            near->piece = number;
        }
        if (at >= address && at <= near->next) {
            near->function = function;
            near->next = at;
            near->next_piece = number;
        }
    }
}

static struct neighbours find_neighbours(struct trace *trace, const struct traced_module *module,
                                         uint64_t address) {
    enum {
        LONGEST_CODE = 256, /* bytes of inserted code, from instruction to instruction */
        LONGEST_PIECE = 1 << 16
    };
    struct neighbours near = {.next = address + LONGEST_CODE};
    for (size_t f = 0; f < module->functions.count; f++) {
        struct traced_function *function = &module->functions.data[f];
        for (uint32_t i = 0; i < function->piece_count; i++) {
            struct piece *piece = &function->pieces[i];
            if (piece->address > near.next || address > piece->address + LONGEST_PIECE)
                continue;
            decode_piece(&trace->arena, function, piece);
            look_at_piece(&near, function, i, address);
        }
    }
    return near;
}

/* Whether code between the addresses BEGIN and END adds to memory: counts an edge. */
static bool adds_between(const struct traced_module *module, uint64_t begin, uint64_t end) {
    struct decoded decoded;
    size_t left;
    const uint8_t *code = binary_code(module->binary, begin, &left);
    for (uint64_t at = begin; code && at < end && decode_instruction(code, left, &decoded);) {
        if (decoded.store.kind != ACCESS_NONE && decoded.load_count && !decoded.switches_stack &&
            decoded.class == CLASS_PLAIN && decoded.flags_written)
            return true;
        at += decoded.size;
        code += decoded.size;
        left -= decoded.size;
    }
    return false;
}

/* Adds the place that a moment with ADDRESS has, if there is one. */
static void add_place(struct trace *trace, struct trace_bound *bound, uint64_t address) {
    if (recorded_form(bound->module->binary, address) != address)
        return; /* nothing is recorded there; the other form is a place, too */
    struct neighbours near = find_neighbours(trace, bound->module, address);
    struct bound_place place = {near.next, bound->ticks};
    if (!near.function)
        return;
    for (uint32_t i = 0; near.next != address && i < near.function->edge_count; i++) {
        const struct path_edge *e = &near.function->edges[i];
        if (e->source == near.piece + 1 && e->target == near.next_piece + 1 && e->ticks &&
            adds_between(bound->module, address, near.next))
            place.ticks++;
    }
    vector_push(&trace->arena, &bound->places, place);
}

static bool is_program(const struct binary *binary) {
    for (size_t i = 0; i < binary->names.count; i++)
        if (strcmp(binary->names.data[i].name, "main") == 0)
            return true;
    return false;
}

/* Finds the module of the trace in which the moment NAME is. Returns NULL or a message. */
static const char *find_module(struct trace *trace, const struct moment_name *name,
                               struct trace_bound *bound) {
    const char *wrong = NULL;
    for (size_t i = 0; i < trace->modules.count; i++) {
        struct traced_module *module = trace->modules.data[i];
        address_list addresses = {0};
        const char *cause =
            module->ticks ? find_places(&trace->arena, module->binary, name, &addresses) : NULL;
        if (cause && (!wrong || is_program(module->binary)))
            wrong = cause;
        bound->module = module;
        for (size_t n = 0; n < addresses.count; n++)
            add_place(trace, bound, addresses.data[n]);
        if (bound->places.count)
            return NULL;
        if (addresses.count && !wrong)
            wrong = "no instruction of the program is there";
    }
    return wrong ? wrong
                 : arena_print(&trace->arena,
                               "'%s' has no moments: build the program with "
                               "'quipu cc --quipu=moment,trace'",
                               trace->path);
}

static const char *read_bound(struct trace *trace, const char *option, const char *text,
                              struct trace_bound *bound) {
    struct moment_name name;
    if (!text)
        return NULL;
    const char *wrong = read_moment(&trace->arena, text, &name);
    bound->name = text;
    bound->ticks = name.ticks;
    bound->thread = name.thread;
    if (!wrong)
        wrong = find_module(trace, &name, bound);
    return wrong ? arena_print(&trace->arena, "--%s='%s': %s", option, text, wrong) : NULL;
}

const char *trace_set_between(struct trace *trace, const char *from, const char *to) {
    struct trace_between *between = ARENA_NEW(&trace->arena, struct trace_between);
    const char *wrong = read_bound(trace, "from", from, &between->from);
    if (!wrong)
        wrong = read_bound(trace, "to", to, &between->to);
    trace->between = between;
    return wrong;
}

const char *trace_set_between_of_window(struct trace *trace) {
    const struct trace_window *window = &trace->window;
    return window->from || window->to ? trace_set_between(trace, window->from, window->to) : NULL;
}

bool between_is_of_one_thread(const struct trace_between *between) {
    return !between->from.name || !between->to.name || between->from.thread == between->to.thread;
}

/* ---- threads and chunks ---- */

/* Sets COUNTER to the chunk's in the module with BIAS. Returns false if it has none. */
static bool find_counter(const struct traced_chunk *chunk, uint64_t bias,
                         struct quipu_trace_counter *counter) {
    bool found = false;
    uint8_t *contents = malloc(QUIPU_TRACE_CONTENTS_MAX);
    CHECK(contents);
    uint32_t count = read_chunk(chunk, contents) ? 0 : chunk->counters;
    for (uint32_t i = 0; i < count && !found; i++) {
        memcpy(counter, contents + i * sizeof *counter, sizeof *counter);
        found = counter->bias == bias;
    }
    free(contents);
    return found;
}

bool bound_counter(const struct trace_bound *bound, const struct traced_thread *thread,
                   size_t index, struct quipu_trace_counter *counter) {
    const struct traced_process *process = thread->process;
    for (size_t i = 0; i < process->modules.count; i++)
        if (process->modules.data[i].module == bound->module)
            return find_counter(&thread->chunks.data[index], process->modules.data[i].bias,
                                counter);
    return false;
}

/* Returns the moment by which a thread is chosen. */
static const struct trace_bound *any_bound(const struct trace_between *between) {
    return between->from.name ? &between->from : &between->to;
}

bool between_has_thread(struct trace *trace, const struct traced_thread *thread) {
    const struct trace_bound *bound = any_bound(trace->between);
    struct quipu_trace_counter counter;
    for (size_t i = 0; i < thread->chunks.count; i++)
        if (bound_counter(bound, thread, i, &counter))
            return (counter.thread ? counter.thread : 1) == bound->thread;
    return false;
}

/* ---- steps ---- */

static bool is_at(struct trace_bound *bound, const struct trace_step *step) {
    if (!bound->name || step->ticks - bound->ticks > 1 || step->counted != bound->thread ||
        step->function->module != bound->module)
        return false;
    for (size_t i = 0; i < bound->places.count; i++)
        if (bound->places.data[i].address == step->instruction->address &&
            bound->places.data[i].ticks == step->ticks) {
            bound->seen = true;
            return true;
        }
    return false;
}

bool between_takes(struct trace_between *between, struct trace_step *step,
                   enum between_state *state) {
    if (*state == BETWEEN_BEFORE && (!between->from.name || is_at(&between->from, step))) {
        *state = BETWEEN_INSIDE;
        if (between->from.name) {
            step->gap = (struct trace_gap){0};
            step->gap_references.count = 0;
        }
    }
    if (*state == BETWEEN_INSIDE && is_at(&between->to, step))
        *state = BETWEEN_BEHIND;
    return *state == BETWEEN_INSIDE;
}

const char *between_missed(struct trace *trace) {
    const struct trace_between *between = trace->between;
    if (!between)
        return NULL;
    if (between->from.name && !between->from.seen)
        return arena_print(&trace->arena, "'%s': no thread comes to the moment --from='%s'",
                           trace->path, between->from.name);
    if (between->to.name && !between->to.seen)
        return arena_print(&trace->arena,
                           "'%s': no thread comes to the moment --to='%s'%s; all up to the end of "
                           "the trace was taken",
                           trace->path, between->to.name,
                           between->from.name ? " behind that of --from" : "");
    return NULL;
}

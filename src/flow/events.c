/* events.c: kinds of events, and the weight of each instruction and edge; see events.h.
 *
 * Not perfect: a string instruction that repeats by %ecx counts as one load and one store, with the
 * bytes of one iteration, for any number of iterations. */
#include "flow/events.h"

#include "format/event.h"
#include "format/notes.h"

#include <string.h>

static int32_t one(const struct decoded *decoded) {
    (void)decoded;
    return 1;
}

static int32_t none(const struct decoded *decoded) {
    (void)decoded;
    return 0;
}

static int32_t one_block(const struct basic_block *block) {
    return !block->padding && !block->continues;
}

static int32_t is_branch(const struct decoded *decoded) {
    return decoded->class == CLASS_CONDITIONAL || decoded->class == CLASS_CONDITIONAL_NEAR;
}

static int32_t is_taken(const struct graph *graph, const struct edge *edge) {
    (void)graph;
    return edge->kind == QUIPU_EDGE_TAKEN;
}

static int32_t is_not_taken(const struct graph *graph, const struct edge *edge) {
    (void)graph;
    return edge->kind == QUIPU_EDGE_NOT_TAKEN;
}

static int32_t ticks(const struct graph *graph, const struct edge *edge) {
    (void)graph;
    return edge->ticks;
}

static int32_t is_call(const struct decoded *decoded) {
    return is_call_class(decoded->class);
}

static int32_t is_return(const struct decoded *decoded) {
    return decoded->class == CLASS_RETURN;
}

static int32_t loads(const struct decoded *decoded) {
    return decoded->load_count;
}

static int32_t stores(const struct decoded *decoded) {
    return writes_memory(decoded);
}

static int32_t bytes_loaded(const struct decoded *decoded) {
    int32_t bytes = 0;
    for (int i = 0; i < decoded->load_count; i++)
        bytes += accessed_bytes(&decoded->loads[i]);
    return bytes;
}

static int32_t bytes_stored(const struct decoded *decoded) {
    return accessed_bytes(&decoded->store);
}

static int32_t is_floating(const struct decoded *decoded) {
    return decoded->floating;
}

static int32_t is_vector(const struct decoded *decoded) {
    return decoded->vector;
}

static int32_t is_atomic(const struct decoded *decoded) {
    return decoded->atomic;
}

static const struct event_kind kinds[] = {
    {"instructions", 1 + QUIPU_EVENT_INSTRUCTIONS, NULL, one, NULL, NULL, false},
    {"blocks", 1 + QUIPU_EVENT_BLOCKS, NULL, none, NULL, one_block, false},
    {"branches", 1 + QUIPU_EVENT_BRANCHES, NULL, is_branch, NULL, NULL, false},
    {"branches-taken", 1 + QUIPU_EVENT_BRANCHES_TAKEN, NULL, none, is_taken, NULL, false},
    {"branches-not-taken", 1 + QUIPU_EVENT_BRANCHES_NOT_TAKEN, NULL, none, is_not_taken, NULL,
     false},
    {"calls", 1 + QUIPU_EVENT_CALLS, NULL, is_call, NULL, NULL, false},
    {"returns", 1 + QUIPU_EVENT_RETURNS, NULL, is_return, NULL, NULL, false},
    {"loads", 1 + QUIPU_EVENT_LOADS, NULL, loads, NULL, NULL, true},
    {"stores", 1 + QUIPU_EVENT_STORES, NULL, stores, NULL, NULL, true},
    {"bytes-loaded", 1 + QUIPU_EVENT_BYTES_LOADED, NULL, bytes_loaded, NULL, NULL, true},
    {"bytes-stored", 1 + QUIPU_EVENT_BYTES_STORED, NULL, bytes_stored, NULL, NULL, true},
    {"floating-point", 1 + QUIPU_EVENT_FLOATING_POINT, NULL, is_floating, NULL, NULL, false},
    {"vector", 1 + QUIPU_EVENT_VECTOR, NULL, is_vector, NULL, NULL, false},
    {"atomic", 1 + QUIPU_EVENT_ATOMIC, NULL, is_atomic, NULL, NULL, false},
    {"ticks", 1 + QUIPU_EVENT_TICKS, NULL, none, ticks, NULL, false},
};

const struct event_kind *event_kind_at(size_t index) {
    return index < sizeof kinds / sizeof *kinds ? &kinds[index] : NULL;
}

const struct event_kind *find_event_kind(const char *name) {
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    return NULL;
}

void add_event_kind(struct event_set *set, const struct event_kind *kind) {
    uint32_t at = set->count;
    for (uint32_t i = 0; i < set->count; i++)
        if (set->kinds[i] == kind)
            return;
    for (; at > 0 && set->kinds[at - 1]->cell > kind->cell; at--)
        set->kinds[at] = set->kinds[at - 1];
    set->kinds[at] = kind;
    set->count++;
}

uint32_t event_mask(const struct event_set *set) {
    uint32_t mask = 0;
    for (uint32_t i = 0; i < set->count; i++)
        mask |= 1u << (set->kinds[i]->cell - 1);
    return mask;
}

bool counts_turns(const struct event_set *set) {
    for (uint32_t i = 0; i < set->count; i++)
        if (set->kinds[i]->each_turn)
            return true;
    return false;
}

int32_t weigh_turn(const struct event_kind *kind, const struct decoded *decoded) {
    return kind->each_turn && decoded->turns ? kind->of_instruction(decoded) : 0;
}

static int32_t of_class(const char *pattern, const struct decoded *decoded) {
    return class_has_instruction(pattern, decoded);
}

int32_t weigh_instruction(const struct graph *graph, const struct event_kind *kind,
                          const struct graph_instruction *instruction) {
    const struct decoded *decoded = instruction->decoded;
    if (!kind->pattern)
        return kind->each_turn && decoded->turns ? 0 : kind->of_instruction(decoded);
    if (of_class(kind->pattern, decoded))
        return 1;
    if (decoded->class == CLASS_CONDITIONAL)
        return 0; /* only if it is taken: weigh_jump_away */
    const char *callee = callee_of(graph, instruction);
    return callee && class_has_callee(kind->pattern, callee);
}

int32_t weigh_instructions(const struct graph *graph, const struct event_kind *kind,
                           const struct basic_block *block, uint32_t count) {
    int32_t weight = kind->of_block && count ? kind->of_block(block) : 0;
    for (uint32_t i = 0; i < count; i++)
        weight += weigh_instruction(graph, kind, &graph->instructions.data[block->first + i]);
    return weight;
}

/* Long padding begins with a jump over the rest, which never runs. */
static int32_t weigh_padding(const struct event_kind *kind, const struct basic_block *block) {
    int32_t weight = 0;
    struct decoded decoded = {0};
    for (uint32_t at = 0; at < block->size && decoded.class != CLASS_JUMP; at += decoded.size) {
        if (!decode_instruction(block->padding_bytes + at, block->size - at, &decoded))
            break;
        weight +=
            kind->pattern ? of_class(kind->pattern, &decoded) : kind->of_instruction(&decoded);
    }
    return weight;
}

int32_t weigh_block(const struct graph *graph, const struct event_kind *kind,
                    const struct basic_block *block) {
    return block->padding ? weigh_padding(kind, block)
                          : weigh_instructions(graph, kind, block, block->count);
}

/* Returns the weight of a conditional jump to another function: it is a call when it is taken. */
static int32_t weigh_jump_away(const struct graph *graph, const struct event_kind *kind,
                               const struct edge *edge) {
    if (edge->kind != QUIPU_EDGE_TAKEN || edge->target != 0)
        return 0;
    const struct graph_instruction *jump =
        last_instruction(graph, &graph->blocks.data[edge->source - 1]);
    const char *callee = callee_of(graph, jump);
    return callee && !of_class(kind->pattern, jump->decoded) &&
           class_has_callee(kind->pattern, callee);
}

int32_t weigh_edge(const struct graph *graph, const struct event_kind *kind,
                   const struct edge *edge) {
    if (kind->pattern)
        return weigh_jump_away(graph, kind, edge);
    return kind->of_edge ? kind->of_edge(graph, edge) : 0;
}

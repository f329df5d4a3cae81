/* events.h: kinds of events, and the weight of each instruction and edge of a graph: the number of
 * events that it adds.
 *
 * An event happens when its instruction is completed. An event that depends on the direction of a
 * branch happens when the edge is taken. */
#ifndef QUIPU_FLOW_EVENTS_H
#define QUIPU_FLOW_EVENTS_H

#include "flow/graph.h"
#include "format/event.h"

/* A kind of event, and its cell. */
struct event_kind {
    const char *name;
    uint32_t cell;       /* 1 + enum quipu_event */
    const char *pattern; /* of a class, which has none of the following members; NULL: it is
                            built in */
    int32_t (*of_instruction)(const struct decoded *decoded);
    /* NULL: edges have no weight */
    int32_t (*of_edge)(const struct graph *graph, const struct edge *edge);
    /* added at the block's first instruction, or NULL */
    int32_t (*of_block)(const struct basic_block *block);
    /* each iteration of an instruction that repeats (x86/decode.h: turns) has its weight */
    bool each_turn;
};

/* The kinds of one build, each once, by rising cell. */
struct event_set {
    const struct event_kind *kinds[QUIPU_EVENTS];
    uint32_t count;
};

/* Limits: classes in one build, bytes of a name and of a pattern. */
enum {
    EVENT_CLASSES = QUIPU_EVENTS - QUIPU_EVENT_CLASSES,
    EVENT_NAME_MAX = 64,
    EVENT_PATTERN_MAX = 1024,
};

/* Returns built-in kind number INDEX, or NULL behind the last. */
const struct event_kind *event_kind_at(size_t index);

/* Returns the built-in kind of that name, or NULL. */
const struct event_kind *find_event_kind(const char *name);

/* Adds the kind to the set, unless it has it already. */
void add_event_kind(struct event_set *set, const struct event_kind *kind);

/* Adds a class, "NAME=PATTERN", to the set, with the first free cell. All of it is in ARENA, so is
 * a message. Returns NULL or an error message. */
const char *add_event_class(struct event_set *set, const char *text, struct arena *arena);

/* Whether PATTERN matches an instruction, or, by "call:GLOB", CALLEE. See classes.c. */
bool class_has_instruction(const char *pattern, const struct decoded *decoded);
bool class_has_callee(const char *pattern, const char *callee);

/* Returns the symbol of the function that the instruction always calls or jumps to when it runs, or
 * is taken. The result is in the graph's arena. NULL: it calls no function, or does not name it. */
const char *callee_of(const struct graph *graph, const struct graph_instruction *instruction);

/* Returns the set as in the binary's notes: bit n is kind n of enum quipu_event. */
uint32_t event_mask(const struct event_set *set);

/* Whether a kind of the set counts each iteration of instructions that repeat. */
bool counts_turns(const struct event_set *set);

/* Returns the weight of each iteration of an instruction. 0: it does not repeat, or KIND does not
 * count iterations. */
int32_t weigh_turn(const struct event_kind *kind, const struct decoded *decoded);

/* Returns the weight of the instruction, without the weights of its block, its edges and its
 * iterations. */
int32_t weigh_instruction(const struct graph *graph, const struct event_kind *kind,
                          const struct graph_instruction *instruction);

/* Returns the number of events from the begin of BLOCK until its first COUNT instructions are
 * completed. */
int32_t weigh_instructions(const struct graph *graph, const struct event_kind *kind,
                           const struct basic_block *block, uint32_t count);

/* Returns the weight of the whole block, which may be padding. */
int32_t weigh_block(const struct graph *graph, const struct event_kind *kind,
                    const struct basic_block *block);

int32_t weigh_edge(const struct graph *graph, const struct event_kind *kind,
                   const struct edge *edge);

#endif

/* events.h: kinds of events, and what each instruction and edge of a graph weighs in them.
 *
 * An event has happened once the instruction is completed; what depends on the way that a branch
 * goes, once the edge is taken. */
#ifndef QUIPU_FLOW_EVENTS_H
#define QUIPU_FLOW_EVENTS_H

#include "flow/graph.h"
#include "format/event.h"

/* A kind that is counted, and its cell. */
struct event_kind {
    const char *name;
    uint32_t cell;       /* 1 + enum quipu_event */
    const char *pattern; /* of a class of the user's, which has nothing of what follows; or NULL */
    int32_t (*of_instruction)(const struct decoded *decoded);
    /* NULL: edges weigh nothing */
    int32_t (*of_edge)(const struct graph *graph, const struct edge *edge);
    /* at the block's first instruction, or NULL */
    int32_t (*of_block)(const struct basic_block *block);
    /* what an instruction that has turns (x86/decode.h) weighs, each turn of it does */
    bool each_turn;
};

/* The kinds of one build, without repetition, by rising cell. */
struct event_set {
    const struct event_kind *kinds[QUIPU_EVENTS];
    uint32_t count;
};

/* Classes of the user's own that one build may have, and bytes of their names and patterns. */
enum {
    EVENT_CLASSES = QUIPU_EVENTS - QUIPU_EVENT_CLASSES,
    EVENT_NAME_MAX = 64,
    EVENT_PATTERN_MAX = 1024,
};

/* All kinds but those, one after the other; NULL behind the last. */
const struct event_kind *event_kind_at(size_t index);

/* The kind of that name, or NULL. */
const struct event_kind *find_event_kind(const char *name);

/* Puts the kind into the set. */
void add_event_kind(struct event_set *set, const struct event_kind *kind);

/* Puts a class, "NAME=PATTERN", into the set; its cell is the first one that is free.  Returns
 * NULL, or what is wrong with it, in ARENA, as all of it is. */
const char *add_event_class(struct event_set *set, const char *text, struct arena *arena);

/* Whether PATTERN, alternatives with '|' between, each a shell glob, names the instruction, or, by
 * "call:GLOB", CALLEE. */
bool class_has_instruction(const char *pattern, const struct decoded *decoded);
bool class_has_callee(const char *pattern, const char *callee);

/* The symbol of the function that the instruction surely calls, or jumps to, when it runs or is
 * taken; in the graph's arena.  NULL: it calls none, or one that it does not name. */
const char *callee_of(const struct graph *graph, const struct graph_instruction *instruction);

/* The set as in the binary's notes: bit n for kind n of enum quipu_event. */
uint32_t event_mask(const struct event_set *set);

/* Whether a kind of the set counts each turn of instructions that repeat. */
bool counts_turns(const struct event_set *set);

/* What each turn of an instruction weighs; 0: it has no turns, or they do not matter. */
int32_t weigh_turn(const struct event_kind *kind, const struct decoded *decoded);

/* What the instruction weighs, but not for what is its block's or its edges'. */
int32_t weigh_instruction(const struct graph *graph, const struct event_kind *kind,
                          const struct graph_instruction *instruction);

/* What has happened, above what had in front of the block, once the first COUNT instructions of
 * BLOCK are completed. */
int32_t weigh_instructions(const struct graph *graph, const struct event_kind *kind,
                           const struct basic_block *block, uint32_t count);

/* The whole block, padding too. */
int32_t weigh_block(const struct graph *graph, const struct event_kind *kind,
                    const struct basic_block *block);

int32_t weigh_edge(const struct graph *graph, const struct event_kind *kind,
                   const struct edge *edge);

#endif

/* options.h: what quipu cc tells quipu as: a text such as
 * "count+event:event=loads:event=products=mul%2A:placement=tree:shared:0.1.0-0123456789abcdef". */
#ifndef QUIPU_CMD_OPTIONS_H
#define QUIPU_CMD_OPTIONS_H

#include "flow/events.h"
#include "flow/graph.h"

#include <stdbool.h>

/* A set; none of them is the same code without instrumentation. */
enum mode {
    MODE_COUNT = 1,  /* executions of every instruction */
    MODE_EVENT = 2,  /* events, at any instant */
    MODE_MOMENT = 4, /* ticks of the software instruction counter, with a countdown */
    MODE_WATCH = 16, /* checks of stores, for watched memory */
    MODE_CALLS = 8,  /* a calling context tree, with the instructions of each way */
    MODE_NULL = 32,  /* through the whole shim, with nothing inserted */
};

struct shim_options {
    unsigned modes;          /* enum mode */
    struct event_set events; /* for MODE_EVENT; empty: instructions */
    struct arena arena;      /* the classes among them */
    enum placement placement;
    bool all_checks;     /* MODE_WATCH: none is left out until it is needed */
    bool shared;         /* may be linked into a shared object */
    uint32_t dump;       /* stages whose facts go to standard error, as bits */
    const char *profile; /* data of an earlier run to place counters by, or NULL */
    const char *content; /* then: what tells that it has changed */
};

struct shim_options default_options(void);

/* Reads the fields of TEXT, separated by ':'; a profile's path comes last and may hold any
 * character.  Fields that it does not know are for caches and the reader of a command line (the
 * version, what the profile holds).
 * TEXT must live as long as OPTIONS. */
void parse_options(struct shim_options *options, const char *text);

/* Sets modes ("none", "count", "count,event").  Returns NULL, or what is wrong, in the options'
 * arena; then nothing is set. */
const char *set_modes(struct shim_options *options, const char *names);

/* Sets the stages that are dumped ("graph,tree").  Returns NULL, or what is wrong, in the options'
 * arena; then nothing is set. */
const char *set_dump(struct shim_options *options, const char *names);

/* Names, in the order of enum placement; NULL behind the last. */
const char *placement_name_at(size_t number);

/* Adds a kind of events by name, or a class, NAME=PATTERN.  Returns NULL, or what is wrong. */
const char *add_event(struct shim_options *options, const char *text);

/* The events that are counted: none with MODE_COUNT alone. */
struct event_set events_of(const struct shim_options *options);

/* OPTIONS as parse_options reads them, in its arena. */
const char *print_options(struct shim_options *options, const char *version);

#endif

/* options.h: the options that quipu cc passes to the shim, in a text such as
 * "count+event:event=loads:event=products=mul%2A:placement=tree:shared:0.1.0-0123456789abcdef". */
#ifndef QUIPU_CMD_OPTIONS_H
#define QUIPU_CMD_OPTIONS_H

#include "flow/events.h"
#include "flow/graph.h"

#include <stdbool.h>

/* Modes form a set. The empty set is the same code without instrumentation. */
enum mode {
    MODE_COUNT = 1,  /* executions of every instruction */
    MODE_EVENT = 2,  /* events, at any instant */
    MODE_MOMENT = 4, /* ticks of the software instruction counter, with a countdown */
    MODE_WATCH = 16, /* checks of stores, for watched memory */
    MODE_CALLS = 8,  /* a calling context tree, with the instructions of each context */
    MODE_TRACE = 64, /* records of paths and addresses */
    MODE_NULL = 32,  /* all stages of the shim, with nothing inserted */
};

struct shim_options {
    unsigned modes;          /* enum mode */
    struct event_set events; /* for MODE_EVENT; empty: instructions */
    struct arena arena;      /* of the classes in `events`, and of messages */
    enum placement placement;
    bool all_checks;     /* MODE_WATCH: no check is left out until it is needed */
    bool libc;           /* the C library is instrumented, or this is its code */
    bool shared;         /* may be linked into a shared object */
    uint32_t dump;       /* stages whose facts are printed to standard error, as bits */
    const char *profile; /* earlier run's data for the placement of counters, or NULL */
    const char *content; /* identity of that data's contents */
};

struct shim_options default_options(void);

/* Reads the fields of TEXT, which are separated by ':'. A profile's path is the last field, and may
 * contain any character. Fields that it does not know are ignored: the version, and the contents of
 * the profile, are for caches and for people who read a command line. TEXT must live as long as
 * OPTIONS. */
void parse_options(struct shim_options *options, const char *text);

/* Sets the modes ("none", "count", "count,event"). Returns NULL, or an error message in the
 * options' arena; then nothing is set. */
const char *set_modes(struct shim_options *options, const char *names);

/* Sets the stages that are dumped ("graph,tree"). Returns NULL, or an error message in the options'
 * arena; then nothing is set. */
const char *set_dump(struct shim_options *options, const char *names);

/* Returns the names in the order of enum placement, and NULL behind the last one. */
const char *placement_name_at(size_t number);

/* Adds a kind of events by name, or a class, NAME=PATTERN. Returns NULL, or an error message. */
const char *add_event(struct shim_options *options, const char *text);

/* Returns the events that are counted: none with MODE_COUNT alone. */
struct event_set events_of(const struct shim_options *options);

/* Returns OPTIONS in the form that parse_options reads, in their arena. */
const char *print_options(struct shim_options *options, const char *version);

#endif

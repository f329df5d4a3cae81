/* options.h: what quipu cc tells quipu as: a text such as "count:placement=tree:shared:0.1.0". */
#ifndef QUIPU_CMD_OPTIONS_H
#define QUIPU_CMD_OPTIONS_H

#include "flow/graph.h"

#include <stdbool.h>

enum mode {
    MODE_COUNT,
    MODE_NONE, /* the same code without instrumentation */
};

struct shim_options {
    enum mode mode;
    enum placement placement;
    bool shared;         /* may be linked into a shared object */
    bool dump;           /* graphs to standard error */
    const char *profile; /* data of an earlier run to place counters by, or NULL */
};

struct shim_options default_options(void);

/* Reads the fields of TEXT, separated by ':'; a profile's path comes last and may hold any
 * character.  Fields that it does not know are for the reader of a command line (the version).
 * TEXT must live as long as OPTIONS. */
void parse_options(struct shim_options *options, const char *text);

/* Sets mode or placement by name.  Returns false where there is none of that name. */
bool set_mode(struct shim_options *options, const char *name);
bool set_placement(struct shim_options *options, const char *name);

/* Writes OPTIONS as parse_options reads them; at most SIZE bytes. */
void print_options(const struct shim_options *options, const char *version, char *text,
                   size_t size);

#endif

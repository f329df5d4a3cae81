/* variables.h: the variables of a program or shared object that have an address for all of its run,
 * its enumeration constants, thread-local variables, and functions' locals that have one place in
 * all of a call, by name, out of DWARF. */
#ifndef QUIPU_SYMBOLS_VARIABLES_H
#define QUIPU_SYMBOLS_VARIABLES_H

#include "symbols/type.h"

struct variable {
    const char *name;       /* of its own */
    const char *path;       /* with functions, classes and namespaces around it: "count::calls" */
    const char *key;        /* the path by which it is found: see spelling.h */
    const char *brief;      /* likewise, without inline namespaces */
    const char *parameters; /* of the function that is next around it, in one spelling: "(int)";
                               NULL: none are known */
    const char *file;       /* source of its unit */
    bool ignores_case;      /* its unit's language does */
    bool external;          /* other units know it by its name */
    bool is_constant;       /* of an enumeration */
    const char *cause;      /* why it has no address; NULL: it has one */
    bool is_local;          /* to a function, or its parameter */
    bool is_inlined;        /* likewise: with its function, into `function` */
    bool is_abstract;       /* likewise: of the function as it was written */
    bool is_thread_local;
    uint64_t address;   /* as linked; of a local and thread-local: see find_local */
    Dwarf_Die function; /* of a local: in which it has a place ... */
    uint64_t entry;     /* ... and where that begins, as linked */
    int64_t base;       /* of a local: from the CFA; thread-local: from the module's first */
    Dwarf_Off entry_of_it, origin; /* in the debug information, its own and where it is written:
                                      places of one local have the same origin */
    int64_t value;                 /* of a constant */
    struct type type;
};

struct variables {
    struct arena *arena;
    const struct binary *binary;
    Dwarf_CFI *frames;  /* while they are read */
    bool has_fortran;   /* some unit's language is that */
    bool takes_locals;  /* and thread-local ones; else they are not found */
    const char *module; /* "libz.so:x" is its x, too; NULL: it has no such name */
    VECTOR(struct variable) all;
};

/* The names of what is around DIE in debug information, "ns::calls"; "" where that is the unit. */
const char *path_above(struct arena *arena, Dwarf_Die *die);

/* "ns::calls::count" of "ns::calls" and "count". */
const char *join_path(struct arena *arena, const char *path, const char *name);

/* Reads those of BINARY.  Returns NULL, or what is wrong. */
const char *read_variables(struct arena *arena, const struct binary *binary,
                           struct variables *variables);

/* The local that ADDRESS is in, and in OFFSET how far from its function's CFA; or the thread-local
 * variable, from the first of its module.  NULL: it is in none. */
const struct variable *find_local(const struct variables *variables, uint64_t address,
                                  int64_t *offset);

/* Whether some unit's source is FILE, or ends in it behind a '/'. */
bool is_source(const struct variables *variables, const char *file, size_t length);

/* Says that no unit's source is FILE, and what it could have been. */
const char *no_source(const struct variables *variables, const char *file);

/* Finds NAME ("count", "calls::count"), of the unit of FILE where that is not NULL.  Returns NULL,
 * or why it is not found, with what it could have been; then FOUND is NULL if there is none. */
const char *find_variable(const struct variables *variables, const char *file, const char *name,
                          const struct variable **found);

#endif

/* variables.h: the variables of a program or shared object by name, from DWARF. They are: variables
 * whose address never changes, constants of enumerations, thread-local variables, and locals of
 * functions that have one position in the frame for all of a call. */
#ifndef QUIPU_SYMBOLS_VARIABLES_H
#define QUIPU_SYMBOLS_VARIABLES_H

#include "symbols/type.h"

struct variable {
    const char *name;          /* without scopes */
    const struct scope *scope; /* the functions, classes and namespaces around it; NULL: none */
    const char *file;          /* source file of its unit */
    bool ignores_case;         /* its unit's language ignores case */
    bool external;             /* other units can use its name */
    bool is_constant;          /* of an enumeration */
    const char *cause;         /* why it has no address; NULL: it has one */
    bool is_local;             /* a local or a parameter of a function */
    bool is_inlined;           /* a local of an inlined instance, which is in `function` */
    bool is_abstract;          /* a local of a function that has no code of its own */
    bool is_thread_local;
    uint64_t address;   /* as linked; of a local or thread-local variable: for find_local */
    Dwarf_Die function; /* of a local: in whose frame it is */
    uint64_t entry;     /* of a local: where that function begins, as linked */
    int64_t base;       /* of a local: offset from the CFA; thread-local: from the module's first
                           thread-local byte */
    /* Offsets in the debug information: of its own entry, and of the entry for the source's
     * variable. All instances of one local have the same origin. */
    Dwarf_Off entry_of_it, origin;
    int64_t value; /* of a constant */
    struct type type;
};

struct variables {
    struct arena *arena;
    const struct binary *binary;
    Dwarf_CFI *frames;  /* only while variables are read */
    bool has_fortran;   /* the language of some unit is Fortran */
    bool takes_locals;  /* find_variable also finds locals and thread-local variables */
    const char *module; /* name in front of the variable, as in "libz.so:x"; NULL: it has none */
    VECTOR(struct variable) all;
};

/* Returns the names of the scopes around DIE in the debug information, "ns::calls"; "" if the unit
 * is the only one. */
const char *path_above(struct arena *arena, const struct binary *binary, Dwarf_Die *die);

/* Returns "ns::calls::count" for "ns::calls" and "count". */
const char *join_path(struct arena *arena, const char *path, const char *name);

/* Reads the variables of BINARY. Returns NULL or an error message. */
const char *read_variables(struct arena *arena, const struct binary *binary,
                           struct variables *variables);

/* Returns the local or thread-local variable that contains ADDRESS. For a local, sets OFFSET to the
 * distance from its function's CFA; for a thread-local variable, to the distance from its module's
 * first thread-local byte. Returns NULL for other addresses. */
const struct variable *find_local(const struct variables *variables, uint64_t address,
                                  int64_t *offset);

/* Whether the source file of some unit is FILE, or ends with '/' and FILE. FILE has LENGTH bytes.
 */
bool is_source(const struct variables *variables, const char *file, size_t length);

/* Returns the error message that no unit has the source file FILE, with a suggestion. */
const char *no_source(const struct variables *variables, const char *file);

/* Finds NAME ("count", "calls::count") in the units of source file FILE, or in all units if FILE is
 * NULL. Returns NULL or an error message with a suggestion. With an error message, FOUND is NULL if
 * there is no variable of that name. */
const char *find_variable(const struct variables *variables, const char *file, const char *name,
                          const struct variable **found);

#endif

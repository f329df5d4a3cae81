/* places.h: functions and call sites by address, with or without notes. */
#ifndef QUIPU_DATA_PLACES_H
#define QUIPU_DATA_PLACES_H

#include "data/place_table.h"

/* A called function. */
struct called_function {
    struct module *module; /* NULL: this is number 0, code that is not instrumented */
    uint64_t address;      /* of its entry, as linked */
    const char *name;      /* symbol; "prog+0x1139" if it has none */
    const char *demangled;
    uint32_t file, line;          /* index into profile.files; 0: not known */
    const struct function *noted; /* its notes with its counts; NULL: none */
};

/* A call site. */
struct call_site {
    struct module *module; /* NULL: this is number 0, unknown */
    uint64_t address;      /* address behind the call, as linked */
    uint64_t call;         /* address of the call; of its last byte if that is unknown */
    uint32_t function;     /* number of the function that contains it; 0: unknown */
    uint32_t file, line;   /* of the call; 0: not known */
};

/* Functions and sites, each once. Number 0 means unknown. */
struct places {
    struct arena
        /* not owned; has all data except names, which are in the profile's arena */
        *arena;
    struct profile *profile;
    VECTOR(struct called_function) functions;
    VECTOR(struct call_site) sites;
    struct map function_numbers;
    struct module_places *modules; /* by number in the profile */
};

void places_begin(struct places *places, struct arena *arena, struct profile *profile);

/* Returns the number of PLACE in `functions` or `sites`. A site is given only once. */
uint32_t places_number(struct places *places, struct place place);

/* Returns the number of the function of MODULE whose entry is at ADDRESS, as linked; or 0 if it has
 * no number. */
uint32_t places_find(const struct places *places, const struct module *module, uint64_t address);

#endif

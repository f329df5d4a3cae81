/* places.h: functions and call sites by address, whether they have notes or not. */
#ifndef QUIPU_DATA_PLACES_H
#define QUIPU_DATA_PLACES_H

#include "data/profile.h"

/* A function that was called. */
struct called_function {
    struct module *module; /* NULL: number 0, code that is not instrumented */
    uint64_t address;      /* of its entry, as linked */
    const char *name;      /* symbol; "prog+0x1139" where it has none */
    const char *demangled;
    uint32_t file, line;          /* index into profile.files; 0: not known */
    const struct function *noted; /* its counts; NULL: none */
};

/* Where a call stands. */
struct call_site {
    struct module *module; /* NULL: number 0, not known */
    uint64_t address;      /* of the instruction behind the call, as linked */
    uint64_t call;         /* of the call; its last byte where that is not known */
    uint32_t function;     /* that it lies in: number; 0: not known */
    uint32_t file, line;   /* of the call; 0: not known */
};

/* All that were asked for, each once.  Number 0 stands for what is not known. */
struct places {
    struct arena *arena; /* not owned: of all that is here but names, which are the profile's */
    struct profile *profile;
    VECTOR(struct called_function) functions;
    VECTOR(struct call_site) sites;
    struct map function_numbers, site_numbers;
    struct module_places *modules; /* by number in the profile */
};

void places_begin(struct places *places, struct arena *arena, struct profile *profile);

/* The number of the function whose entry is, or of the site behind whose call stands, the code at
 * ADDRESS where PROCESS ran; 0: it lies in none of the modules. */
uint32_t places_function(struct places *places, const struct process *process, uint64_t address);
uint32_t places_site(struct places *places, const struct process *process, uint64_t address);

/* The number of the function of MODULE whose entry is at ADDRESS, as linked; 0: it has none. */
uint32_t places_find(const struct places *places, const struct module *module, uint64_t address);

#endif

/* source_functions.h: functions as the source has them, for the coverage formats.
 *
 * Functions of one name in one file are one: a static function of a header that several units
 * include, an instance of a template in several modules. */
#ifndef QUIPU_REPORT_SOURCE_FUNCTIONS_H
#define QUIPU_REPORT_SOURCE_FUNCTIONS_H

#include "data/profile.h"

struct source_function {
    const char *name;      /* symbol */
    const char *demangled; /* the same as name where nothing is mangled */
    uint32_t file;         /* index into profile.files; 0: not known */
    uint32_t line;         /* 0: not known */
    uint32_t end_line;     /* last line of its file that it has code of; at least line */
    uint64_t calls;
    size_t blocks; /* of code, of all copies */
    size_t blocks_executed;
    const struct function **copies;
    size_t copy_count;
};

struct source_functions {
    struct source_function *data; /* by file, then line, then name */
    size_t count;
};

/* Those of the whole profile, counted.  Lives in ARENA. */
struct source_functions find_source_functions(struct arena *arena, const struct profile *profile);

/* The functions of FILE: from the one returned to before *END. */
const struct source_function *functions_of_file(const struct source_functions *functions,
                                                uint32_t file, const struct source_function **end);

#endif

/* source_functions.h: the functions of the source, for the coverage formats and for comparisons.
 *
 * Functions of the same name in the same file are one function: a static function of a header that
 * several units include, or an instance of a template in several modules. Parts that gcc cuts off a
 * function (function_parts.h) are copies of it, too, but their calls are none of its. */
#ifndef QUIPU_REPORT_SOURCE_FUNCTIONS_H
#define QUIPU_REPORT_SOURCE_FUNCTIONS_H

#include "data/profile.h"

struct source_function {
    const char *name;      /* symbol */
    const char *demangled; /* the same as name if it is not mangled */
    uint32_t file;         /* index into profile.files; 0: not known */
    uint32_t line;         /* 0: not known */
    uint32_t end_line;     /* last line of its file with code of it; at least line */
    uint64_t calls;
    size_t blocks; /* without padding, in all copies */
    size_t blocks_executed;
    const struct function **copies;
    size_t copy_count;
};

struct source_functions {
    struct source_function *data; /* sorted by file, then by line, then by name */
    size_t count;
};

/* Returns those of the whole profile, for which profile_count must have been called. Lives in
 * ARENA. */
struct source_functions find_source_functions(struct arena *arena, const struct profile *profile);

/* Returns the first function of FILE. Sets *END to the one behind the last. */
const struct source_function *functions_of_file(const struct source_functions *functions,
                                                uint32_t file, const struct source_function **end);

#endif

/* view.h: what 'quipu report' can show: one row of the table of views each. */
#ifndef QUIPU_REPORT_VIEW_H
#define QUIPU_REPORT_VIEW_H

#include "data/profile.h"
#include "report/table.h"

/* Which functions are shown: shell patterns, NULL: all. */
struct view_filter {
    const char *function; /* against symbol and demangled name */
    const char *file;     /* against the path, or its last components */
    const char *module;   /* the same */
};

/* What a view collects from and into. */
struct view_input {
    struct arena *arena;     /* for rows and their texts */
    struct profile *profile; /* counted for SELECTION */
    struct selection selection;
    struct view_filter filter;
    struct table *table;
    uint64_t executed; /* instructions of the whole: those of the profile, but for views that count
                          otherwise, which set it */
};

struct view {
    const char *name; /* as in --by=NAME */
    const char *help;
    const struct table_shape *shape;
    bool of_code; /* rows are of code, so that without --quipu=count there would be none */
    void (*collect)(struct view_input *input);
};

/* The views by number; NULL behind the last. */
const struct view *view_at(size_t i);

/* The view that --by=NAME means.  Where there is none, that ends the program. */
const struct view *choose_view(const char *name);

/* The rows of views, in views_code.c, views_source.c, views_run.c and views_calls.c. */
extern const struct view view_function, view_block, view_instruction, view_file, view_line,
    view_module, view_thread, view_process, view_callsite;

/* ---- for views ---- */

/* Whether the filter lets FUNCTION, or the source file of that index, or MODULE through. */
bool shows_function(const struct view_input *input, const struct function *function);
bool shows_file(const struct view_input *input, uint32_t file);
bool shows_module(const struct view_input *input, const struct module *module);

bool filter_shows(struct view_filter filter, const struct profile *profile,
                  const struct function *function);

/* The part of PROFILE that the filters on functions and modules let through, for count_lines: the
 * filter on files is left out, since a function's code may come from other files than its own. */
const struct profile *filter_profile(struct arena *arena, const struct profile *profile,
                                     struct view_filter filter);

/* EXECUTED as a share of all instructions executed; 0 where nothing was. */
double share_of_all(const struct view_input *input, uint64_t executed);

/* PATH as short as it can be told: relative where it is below the working directory. */
const char *short_path(struct arena *arena, const char *path);

/* "max.c:12", or "" where FILE is 0. */
const char *location_text(struct arena *arena, const struct profile *profile, uint32_t file,
                          uint32_t line);

/* "2024-05-01T12:00:00.123Z" for NANOSECONDS since 1970. */
const char *time_text(struct arena *arena, uint64_t nanoseconds);

/* How many threads of PROCESS ran instrumented code. */
uint64_t count_threads(const struct process *process);

/* The module's build id in base 16; "" where it has none. */
const char *build_id_text(struct arena *arena, const struct module *module);

/* Whether the name matches PATTERN; NULL matches all. */
bool matches_name(const char *pattern, const char *name);

/* Whether TEXT, or where it is a path its last components, match PATTERN; NULL matches all. */
bool matches(const char *pattern, const char *text);

#endif

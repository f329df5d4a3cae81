/* view.h: the views of 'quipu report', each with a row in the table of views. */
#ifndef QUIPU_REPORT_VIEW_H
#define QUIPU_REPORT_VIEW_H

#include "data/profile.h"
#include "report/inlined.h"
#include "report/name_style.h"
#include "report/table.h"

/* Which functions are shown: those that match a pattern of each list that is not empty. */
struct view_filter {
    text_vector functions; /* match the symbol or the demangled name */
    text_vector files;     /* match the path, or its last components */
    text_vector modules;   /* the same */
};

/* The input and output of a view. */
struct view_input {
    struct arena *arena;     /* for rows and their texts */
    struct profile *profile; /* profile_count was called with SELECTION */
    struct selection selection;
    struct view_filter filter;
    enum name_style names; /* in text */
    struct table *table;
    struct inlined_lines inlined; /* for the view by function */
    uint64_t executed; /* all executed instructions: those of the profile; views that count
                          otherwise set it */
};

struct view {
    const char *name; /* as in --by=NAME */
    const char *help;
    const struct table_shape *shape;
    bool of_code; /* rows are of code, so there are none without --quipu=count */
    void (*collect)(struct view_input *input);
};

/* Returns view number I, or NULL behind the last one. */
const struct view *view_at(size_t i);

/* Returns the view with that NAME, from --by=NAME. An unknown name ends the program with an
 * error. */
const struct view *choose_view(const char *name);

/* The views, which are in views_code.c, views_source.c, views_run.c and views_calls.c. */
extern const struct view view_function, view_block, view_instruction, view_file, view_line,
    view_module, view_thread, view_process, view_callsite;

/* ---- for views ---- */

/* Whether the filter shows FUNCTION, source file number FILE, or MODULE. */
bool shows_function(const struct view_input *input, const struct function *function);
bool shows_file(const struct view_input *input, uint32_t file);
bool shows_module(const struct view_input *input, const struct module *module);

bool filter_shows(struct view_filter filter, const struct profile *profile,
                  const struct function *function);

/* Returns the part of PROFILE that the filters for functions and modules show, for count_lines. The
 * filter for files is ignored, since a function may have code from files other than its own. */
const struct profile *filter_profile(struct arena *arena, const struct profile *profile,
                                     struct view_filter filter);

/* Returns EXECUTED as a share of all executed instructions, or 0 if there are none. */
double share_of_all(const struct view_input *input, uint64_t executed);

/* Returns PATH relative to the working directory if it is below that, otherwise PATH. */
const char *short_path(struct arena *arena, const char *path);

/* Returns "max.c:12", for example, or "" if FILE is 0. */
const char *location_text(struct arena *arena, const struct profile *profile, uint32_t file,
                          uint32_t line);

/* Returns "2024-05-01T12:00:00.123Z", for example, for NANOSECONDS since 1970. */
const char *time_text(struct arena *arena, uint64_t nanoseconds);

/* Returns the number of threads of PROCESS that ran instrumented code. */
uint64_t count_threads(const struct process *process);

/* The same of all processes. */
uint64_t count_all_threads(const struct profile *profile);

/* Returns the index of MODULE in PROFILE; the number of modules if it is none of them. */
size_t module_number(const struct profile *profile, const struct module *module);

/* Returns the module's build id in hexadecimal, or "" if it has none. */
const char *build_id_text(struct arena *arena, const struct module *module);

/* Whether NAME matches PATTERN. */
bool matches_name(const char *pattern, const char *name);

/* Whether TEXT or, if it is a path, its last components match PATTERN. */
bool matches(const char *pattern, const char *text);

/* Whether one of the names of a function matches one of PATTERNS. No patterns match everything. */
bool matches_function(text_vector patterns, const char *name, const char *demangled);

#endif

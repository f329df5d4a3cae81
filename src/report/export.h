/* export.h: writes a profile in the formats of other tools.
 *
 * A format is a file export_NAME.c with one function, and a row in export.c. */
#ifndef QUIPU_REPORT_EXPORT_H
#define QUIPU_REPORT_EXPORT_H

#include "data/calls.h"
#include "data/profile.h"

#include <stdio.h>

/* The input of each format. */
struct export_input {
    const struct profile *profile; /* profile_count was called for all processes */
    const struct contexts
        *contexts;            /* of all processes; NULL: there are none, or none are needed */
    const char *source_root;  /* absolute, without '/' at its end except in "/"; NULL: not given */
    const char *version;      /* of quipu */
    bool lines_only;          /* callgrind: positions are lines, without addresses */
    const char *directory;    /* html: with '/' at its end, for files beside the page; NULL: none */
    const char *gcovr_format; /* version of gcovr's format; NULL: that of the installed gcovr */
};

/* Writes INPUT to OUT. Errors stay in the stream: the caller tests ferror. */
typedef void export_function(const struct export_input *input, FILE *out);

enum export_calls {
    EXPORT_NO_CALLS,
    EXPORT_CALLS,     /* contains calls if there are calling contexts */
    EXPORT_CALLS_ONLY /* contains only calls */
};

struct export_format {
    const char *name; /* as in --to=NAME */
    const char *help; /* one line */
    export_function *write;
    enum export_calls calls;
    bool by_thread;  /* the calls of each thread apart */
    bool compressed; /* it is always compressed, whatever the name of its file is */
    bool of_lines;   /* contains only source lines */
    bool many_files; /* a directory can be given, too */
};

extern const struct export_format export_formats[];
extern const size_t export_format_count;

/* Returns the format with that NAME, from --to=NAME. An unknown name ends the program with an
 * error. */
const struct export_format *choose_export_format(const char *name);

export_function export_callgrind, export_lcov, export_cobertura, export_gcov_json, export_gcovr,
    export_json, export_collapsed, export_pprof, export_speedscope, export_html;

#endif

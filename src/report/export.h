/* export.h: a profile in the formats of other tools.
 *
 * A format is a file export_NAME.c with one function, and a row in export.c. */
#ifndef QUIPU_REPORT_EXPORT_H
#define QUIPU_REPORT_EXPORT_H

#include "data/calls.h"
#include "data/profile.h"

#include <stdio.h>

/* What every format gets. */
struct export_input {
    const struct profile *profile;   /* counted, all processes */
    const struct contexts *contexts; /* of all processes; NULL: there are none, or the format is not
                                        of calls */
    const char *source_root; /* absolute, no '/' at its end but for "/"; NULL: none was given */
    const char *version;     /* of this tool */
};

/* Writes INPUT to OUT.  Errors of the stream stay in the stream: the caller looks at ferror. */
typedef void export_function(const struct export_input *input, FILE *out);

enum export_calls {
    EXPORT_NO_CALLS,
    EXPORT_CALLS,     /* it tells of calls where there are calling contexts */
    EXPORT_CALLS_ONLY /* it is about nothing else */
};

struct export_format {
    const char *name; /* as in --to=NAME */
    const char *help; /* one line */
    export_function *write;
    enum export_calls calls;
    bool compressed; /* it always is, whatever its file is called */
    bool of_lines;   /* it is about nothing but source lines */
};

extern const struct export_format export_formats[];
extern const size_t export_format_count;

/* The format that --to=NAME means.  Where there is none, that ends the program. */
const struct export_format *choose_export_format(const char *name);

export_function export_callgrind, export_lcov, export_cobertura, export_gcov_json, export_json,
    export_collapsed, export_pprof;

/* Opens the file at PATH for writing, compressed as by gzip where its name ends in ".gz"; "-" is
 * standard output.  COMPRESSED: what is written is that already.  Returns NULL with errno set on
 * failure. */
FILE *open_output(const char *path, bool compressed);

#endif

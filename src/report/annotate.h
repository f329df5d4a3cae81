/* annotate.h: source and assembly with counts. */
#ifndef QUIPU_REPORT_ANNOTATE_H
#define QUIPU_REPORT_ANNOTATE_H

#include "report/name_style.h"
#include "report/source_text.h"
#include "report/view.h"

struct annotation {
    struct arena *arena;
    const struct profile *profile; /* profile_count was called for it */
    struct view_filter filter;     /* its `file` is not used */
    char *const *files;            /* patterns; only code of files that match one of them */
    size_t file_count;             /* 0: code of all files */
    struct sources sources;
    FILE *out;
    bool color, human;
    enum name_style names;
    bool by_count; /* the most executed first */
    bool branches; /* only for source: branch counts below their lines */
    size_t hot; /* only for source: show this many lines, the hottest, and lines around; 0: all */
    size_t context; /* only for source: lines to show around a hot one */
};

/* Whether source file number FILE was requested. */
bool annotates_file(const struct annotation *annotation, uint32_t file);

/* Ends the program with an error if one of the patterns matches nothing at all. */
void need_annotated(const struct annotation *annotation);

/* Whether several patterns must match together. */
bool is_narrow(const struct annotation *annotation);

/* Writes source with counts. Ends the program with an error if nothing can be shown of what was
 * requested. Warns of a file that is not found. */
void annotate_source(struct annotation *annotation);

/* Writes functions as assembly with counts, with source lines between. */
void annotate_assembly(struct annotation *annotation);

/* Writes one line of source. Nothing in it acts on the terminal. */
void write_source_line(FILE *out, const char *text);

#endif

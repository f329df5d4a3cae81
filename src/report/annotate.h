/* annotate.h: source and assembly with counts beside them. */
#ifndef QUIPU_REPORT_ANNOTATE_H
#define QUIPU_REPORT_ANNOTATE_H

#include "report/source_text.h"
#include "report/view.h"

struct annotation {
    struct arena *arena;
    const struct profile *profile; /* counted */
    struct view_filter filter;     /* its file is not used */
    char *const *files;            /* patterns; only code of files that match one of them */
    size_t file_count;             /* 0: of all */
    struct sources sources;
    FILE *out;
    bool color, human;
    bool by_count;  /* the most executed first */
    bool branches;  /* source: branch counts below their lines */
    size_t hot;     /* source: only so many lines, the hottest, with what is around; 0: all */
    size_t context; /* source: lines around a hot one */
};

/* Whether the source file of that index was asked for. */
bool annotates_file(const struct annotation *annotation, uint32_t file);

/* Ends the program where one of the patterns matches nothing at all. */
void need_annotated(const struct annotation *annotation);

/* Whether several patterns have to match together. */
bool is_narrow(const struct annotation *annotation);

/* Source with counts.  Ends the program with an error where nothing of what was asked for can be
 * shown; a file that is not found is warned of. */
void annotate_source(struct annotation *annotation);

/* Functions as assembly with counts, source lines between. */
void annotate_assembly(struct annotation *annotation);

/* Writes one line of source, so that nothing in it acts on the terminal. */
void write_source_line(FILE *out, const char *text);

#endif

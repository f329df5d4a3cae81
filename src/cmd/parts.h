/* parts.h: 'quipu cache' and 'quipu reuse' of parts of a trace: --part, --merge, --jobs. */
#ifndef QUIPU_CMD_PARTS_H
#define QUIPU_CMD_PARTS_H

#include "cache/part_file.h"

struct part_options {
    struct part_choice part; /* only this part, whose result goes to a file */
    bool merge;              /* the words are such files */
    unsigned jobs;           /* processes; 0 or 1: one */
};

/* What a command can do with parts. */
struct part_work {
    enum part_kind kind;
    /* Appends the result of PART. */
    void (*make)(void *context, struct part_choice part, struct buffer *contents);
};

/* Ends the program with an error if OPTIONS do not go together. */
void check_part_options(const struct part_options *options);

/* Makes the result of one part, and writes it to the file OUTPUT. */
void write_part(const struct part_work *work, void *context, struct part_choice part,
                const char *output);

/* Makes as many parts as there are JOBS, at the same time. Returns their results, in ARENA. */
part_files make_parts(struct arena *arena, const struct part_work *work, void *context,
                      unsigned jobs);

/* Frees what the files have, but not the list. */
void release_parts(part_files *files);

#endif

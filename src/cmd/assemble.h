/* assemble.h: one unit on its way through the shim to the real assembler. */
#ifndef QUIPU_CMD_ASSEMBLE_H
#define QUIPU_CMD_ASSEMBLE_H

#include "cmd/options.h"
#include "util/buffer.h"

/* What the compiler asks of the assembler. */
struct invocation {
    const char *program; /* our own path */
    char **final;        /* the real assembler's arguments, without the input */
    size_t final_count;
    char **measuring; /* those that matter to code, without input and output */
    size_t measuring_count;
    const char *input; /* NULL: standard input */
    unsigned inputs;
    bool foreign;       /* not for x86-64, or nothing to assemble */
    bool pads_branches; /* the assembler puts padding where it likes */
    struct shim_options options;
};

/* Instruments INPUT and has it assembled.  Where that fails by a fault of ours, the functions that
 * it comes from are left alone, or else the file, and one warning says so; with QUIPU_STRICT it is
 * an error.  Returns the exit status. */
int assemble_unit(struct invocation *call, const struct buffer *input);

/* The real assembler on the input as it is; messages are the user's own. */
int assemble_original(struct invocation *call, const struct buffer *input);

/* assemble_faults.c. */

/* A function that is left alone for a fault of ours. */
struct blame {
    uint32_t function;
    unsigned line;
    const char *name, *reason; /* "internal error: ..." */
};

struct attempt {
    struct invocation *call;
    const struct buffer *input;
    const struct buffer *text; /* the same, in plain words (asm/respell.h) */
    struct arena arena;
    VECTOR(struct blame) blames;
    /* To find out what a fault comes from: */
    bool trial;           /* nothing is said, and ... */
    uint32_t first, last; /* ... only functions [first, last) are instrumented */
};

/* Why function NUMBER is left alone before it is looked at, or NULL. */
const char *left_by_attempt(const struct attempt *attempt, uint32_t number);

/* Does WORK, which may fail, until it does not.  Returns the exit status. */
int assemble_despite_faults(struct attempt *attempt, int (*work)(void *attempt));

#endif

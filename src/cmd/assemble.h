/* assemble.h: instruments one unit, and has the real assembler assemble it. */
#ifndef QUIPU_CMD_ASSEMBLE_H
#define QUIPU_CMD_ASSEMBLE_H

#include "cmd/options.h"
#include "util/buffer.h"

/* The compiler's call of the assembler. */
struct invocation {
    const char *program; /* path of the shim */
    char **final;        /* the real assembler's arguments, without the input */
    size_t final_count;
    char **measuring; /* those that affect code, without input and output */
    size_t measuring_count;
    const char *input; /* NULL: standard input */
    unsigned inputs;
    bool foreign;       /* not for x86-64, or nothing to assemble */
    bool pads_branches; /* the assembler pads branches by itself */
    bool numbers;       /* -g: it numbers the lines of text without .loc */
    struct shim_options options;
};

/* Instruments INPUT and has it assembled. If a fault of quipu's own prevents this, the functions
 * that cause it are left alone, or else the file, and one warning reports it; with QUIPU_STRICT it
 * is an error. Returns the exit status. */
int assemble_unit(struct invocation *call, const struct buffer *input);

/* Runs the real assembler on the original input, with its messages. Returns its status. */
int assemble_original(struct invocation *call, const struct buffer *input);

/* assemble_faults.c. */

/* A function that is left alone because of a fault of quipu's own. */
struct blame {
    uint32_t function;
    unsigned line;
    const char *name, *reason; /* "internal error: ..." */
};

struct attempt {
    struct invocation *call;
    const struct buffer *input;
    const struct buffer *text; /* the same, respelled (asm/respell.h) */
    struct arena arena;
    VECTOR(struct blame) blames;
    /* For trials, which search for the functions that cause a fault: */
    bool trial;           /* nothing is printed, and ... */
    uint32_t first, last; /* ... only functions [first, last) are instrumented */
};

/* Returns why the attempt leaves function NUMBER alone, or NULL. */
const char *left_by_attempt(const struct attempt *attempt, uint32_t number);

/* Does WORK again and again until no fault ends it. Returns the exit status. */
int assemble_despite_faults(struct attempt *attempt, int (*work)(void *attempt));

#endif

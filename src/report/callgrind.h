/* callgrind.h: declarations that the two parts of the export to callgrind share. */
#ifndef QUIPU_REPORT_CALLGRIND_H
#define QUIPU_REPORT_CALLGRIND_H

#include "data/calls.h"

#include <stdio.h>

struct callgrind_calls;

struct callgrind {
    FILE *out;
    struct arena *arena;
    const struct profile *profile;
    uint32_t *file_ids; /* by index of file; 0: not written yet */
    uint32_t next_file, next_function;
    struct map function_ids; /* by module and address */
    bool *modules_written;   /* by number; the last one is "???" */
    uint32_t file;           /* the current file */
    bool lines_only; /* a position is a line, without address; no jumps, no files of inlined code */
    const struct callgrind_calls *calls; /* NULL: no calls are known */
};

/* Writes a file under KEY ("fl", "fi", "fe", "jfi", "cfi"): its name and number the first time,
 * then only its number. */
void callgrind_file(struct callgrind *callgrind, const char *key, uint32_t file);

/* Writes the position of an instruction or call, or of a call's target. */
void callgrind_position(const struct callgrind *callgrind, uint64_t address, uint32_t line);

/* Makes FILE the current one, within a function of file HOME. */
void callgrind_enter_file(struct callgrind *callgrind, uint32_t file, uint32_t home);

/* The same for a module under "ob" or "cob", and for a function under "fn" or "cfn". MODULE may be
 * NULL. */
void callgrind_module(struct callgrind *callgrind, const char *key, const struct module *module);
void callgrind_function(struct callgrind *callgrind, const char *key, const struct module *module,
                        uint64_t address, const char *name);

/* ---- export_callgrind_calls.c ---- */

/* Prepares the calls of CONTEXTS, which the caller still owns. */
const struct callgrind_calls *callgrind_find_calls(struct arena *arena,
                                                   const struct contexts *contexts);

/* Writes all calls that FUNCTION made. Its head must be written already. */
void callgrind_calls_of(struct callgrind *callgrind, const struct function *function);

/* Returns the instructions of functions that have no counts of their own. */
uint64_t callgrind_uncounted(const struct callgrind *callgrind);

/* Writes those functions of MODULE; NULL: code in no module that calls functions. */
void callgrind_write_uncounted(struct callgrind *callgrind, const struct module *module);

#endif

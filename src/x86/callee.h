/* callee.h: what known functions of the C library access, from their arguments and their result, by
 * the calling convention of x86-64 (System V ABI, section 3.2.3).
 *
 * The tables are format/watch_callees.h and format/trace_callees.h. */
#ifndef QUIPU_X86_CALLEE_H
#define QUIPU_X86_CALLEE_H

#include "x86/decode.h"

enum {
    CALLEE_ACCESSES_MAX = 5
};

/* A known function. */
struct callee {
    uint32_t writes[3], reads[2]; /* extents of format/watch_callees.h; 0: none */
};

/* Finds the function with that NAME, of LENGTH bytes. Returns false if it is not known, or accesses
 * nothing that its arguments and its result tell. */
bool find_known_callee(const char *name, size_t length, struct callee *callee);

/* Returns the registers that have the arguments which its accesses depend on. */
uint16_t callee_arguments(const struct callee *callee);

/* Whether some of its accesses depend on its result. */
bool callee_needs_result(const struct callee *callee);

/* What the function has accessed. */
struct callee_access {
    uint64_t address, size;
    bool writes;
    bool sure; /* otherwise it may be less */
};

/* The registers of a call. */
struct call_values {
    uint16_t known;                        /* those in front of the call that are known */
    uint64_t arguments[GENERAL_REGISTERS]; /* in front of it */
    bool has_result;
    uint64_t result; /* %rax behind it */
};

/* Finds what the function has accessed: reads first. What depends on unknown values is left out.
 * Returns their number. */
unsigned callee_accesses(const struct callee *callee, const struct call_values *values,
                         struct callee_access found[CALLEE_ACCESSES_MAX]);

#endif

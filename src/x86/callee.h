/* callee.h: what known functions of the C library access and allocate, from their arguments and
 * their result, by the calling convention of x86-64 (System V ABI, section 3.2.3).
 *
 * The tables are format/watch_callees.h, format/trace_callees.h and format/trace_measures.h. */
#ifndef QUIPU_X86_CALLEE_H
#define QUIPU_X86_CALLEE_H

#include "x86/decode.h"

enum {
    CALLEE_ACCESSES_MAX = 5
};

/* A known function, by extents of format/watch_callees.h; 0: none. */
struct callee {
    uint32_t writes[3], reads[2];
    uint32_t block;            /* allocated */
    uint32_t freed;            /* the block that ends, or moves to the allocated one */
    uint32_t pages;            /* blocks are mappings of pages; these ones end */
    bool measures_need_result; /* of format/trace_measures.h */
};

/* Finds the function with that NAME, of LENGTH bytes. Returns false if it is not known, or accesses
 * and allocates nothing that its arguments and its result tell. */
bool find_known_callee(const char *name, size_t length, struct callee *callee);

enum {
    NO_MEASURES = UINT32_MAX
};

/* Returns the number of the function's row in format/trace_measures.h, or NO_MEASURES. */
uint32_t find_measures(const char *name, size_t length);

/* If the function makes the system call whose number it gets, and has no records, returns its ROW
 * (format/trace.h), or NO_MEASURES. */
uint32_t find_caller_of_kernel(const char *name, size_t length);

/* Returns the registers that have the arguments which its accesses and its blocks depend on. */
uint16_t callee_arguments(const struct callee *callee);

/* Whether some of its accesses or its blocks depend on its result. */
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

enum {
    HEAP_STRING_BYTES = 16 /* all that is known of a block whose size its string tells: malloc
                              aligns blocks to 16 bytes (System V ABI: alignment of long double), so
                              no other block begins there */
};

/* What the function has done to the heap, or to mappings of pages. Zeros: nothing. */
struct heap_change {
    uint64_t freed; /* address of the block that has ended; 0: none */
    uint64_t
        freed_size; /* bytes from there that have ended; 0: the whole block that begins there */
    uint64_t block; /* address of the allocated one; 0: none */
    uint64_t size;  /* its bytes, at least 1 */
    bool partly;    /* the block may have more bytes */
    bool maps;      /* it is a mapping */
};

/* Finds what the function has done. What depends on unknown values is left out. Returns whether it
 * has done anything. */
bool callee_heap_change(const struct callee *callee, const struct call_values *values,
                        struct heap_change *change);

#endif

/* layout_check.h: whether another binary has the same code as a traced one. */
#ifndef QUIPU_TRACE_LAYOUT_CHECK_H
#define QUIPU_TRACE_LAYOUT_CHECK_H

#include "trace/trace.h"
#include "x86/same_code.h"

struct checked_binary {
    const struct binary *binary;
    struct code_addresses addresses;
};

/* The first instruction that differs. */
struct code_difference {
    bool differs;
    uint32_t offset;     /* from the begin of the fragment */
    uint64_t own, other; /* its addresses, as linked */
};

/* Compares FRAGMENT of FUNCTION, which is in OWN, with the code at ADDRESS in OTHER. */
struct code_difference compare_code(const struct checked_binary *own,
                                    const struct checked_binary *other,
                                    const struct traced_function *function, uint32_t fragment,
                                    uint64_t address);

#endif

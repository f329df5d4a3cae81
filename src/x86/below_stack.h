/* below_stack.h: whether an instruction may lead below the stack pointer. */
#ifndef QUIPU_X86_BELOW_STACK_H
#define QUIPU_X86_BELOW_STACK_H

#include "x86/decode.h"

enum below_stack {
    ABOVE_STACK,
    BELOW_STACK_PERHAPS, /* it has an address that derives from the stack pointer by more than a
                            distance, or puts it elsewhere */
    BELOW_STACK,         /* it has an address at a negative distance */
};

/* Returns where explicit operands and the result of an instruction may lead. What pushes and calls
 * write is the stack pointer's own, and counts as above it. */
enum below_stack finds_below_stack(const struct decoded *decoded);

#endif

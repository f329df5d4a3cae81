/* address.h: inserted code that makes the address of an operand in memory, in front of the
 * instruction, in a register.
 *
 * This is the one place that turns an operand into an address: checks of stores ask the shadow for
 * it, and the code out of line tells it to the runtime. */
#ifndef QUIPU_X86_ADDRESS_H
#define QUIPU_X86_ADDRESS_H

#include "asm/lex.h"
#include "util/buffer.h"
#include "x86/store.h"

/* Where a store goes. */
struct store_address {
    const struct store *store;
    struct span operand; /* as the text has it; see asm/operand.h */
    bool intel;          /* ... in Intel's syntax */
};

/* Whether making the address changes flags. */
bool address_changes_flags(const struct store *store);

/* Puts the address of the first byte into register REG, where the stack pointer is RAISED bytes
 * lower than at the store.  Not of STORE_SCATTER, which has no one address. */
void write_address(struct buffer *out, const struct store_address *address, int reg, int raised);

/* STORE_SCATTER: makes the index of an element in register SCRATCH ("rax") that element's address;
 * RAISED as above. */
void write_element_address(struct buffer *out, const struct store_address *address,
                           const char *scratch, int raised);

#endif

/* address.h: inserted code that computes the address of an operand in memory into a register,
 * before the instruction.
 *
 * All code that needs such an address uses this file: checks of stores test the shadow at it, and
 * the code out of line passes it to the runtime. */
#ifndef QUIPU_X86_ADDRESS_H
#define QUIPU_X86_ADDRESS_H

#include "asm/lex.h"
#include "util/buffer.h"
#include "x86/access.h"

/* The address of an access. */
struct access_address {
    const struct access *access;
    struct span operand; /* the operand's text; see asm/operand.h */
    bool intel;          /* the text is in Intel's syntax */
};

/* Whether the code that computes the address changes flags. */
bool address_changes_flags(const struct access *access);

/* Writes code that sets register REG to the address of the first byte. The stack pointer is RAISED
 * bytes lower there than at the instruction. Not for ACCESS_SCATTERED, which has several addresses.
 */
void write_address(struct buffer *out, const struct access_address *address, int reg, int raised);

/* For ACCESS_SCATTERED: register SCRATCH ("rax") contains the index of an element. Writes code that
 * sets it to that element's address. RAISED as above. */
void write_element_address(struct buffer *out, const struct access_address *address,
                           const char *scratch, int raised);

#endif

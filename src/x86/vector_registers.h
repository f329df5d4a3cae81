/* vector_registers.h: the vector registers that an instruction reads and writes. */
#ifndef QUIPU_X86_VECTOR_REGISTERS_H
#define QUIPU_X86_VECTOR_REGISTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sets of vector registers. Bit n is %zmmN, or the part of it that is %ymmN or %xmmN. */
struct vector_registers {
    uint32_t read, written; /* any part of it; explicit, implicit or in an address */
};

/* Returns those of the instruction at the begin of the COUNT bytes at CODE; none if there is no
 * instruction. */
struct vector_registers find_vector_registers(const uint8_t *code, size_t count);

#endif

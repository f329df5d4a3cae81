/* agent_expression.h: expressions that a debugger has compiled to bytecode, for its server.
 *
 * Source: gdb's manual, appendix "The GDB Agent Expression Mechanism". A client may send anything:
 * only a program that was verified is evaluated. Such a program jumps forwards alone, so it ends;
 * it has at each of its bytecodes one known depth of the stack, which is never too great, and
 * writes nothing. */
#ifndef QUIPU_DEBUG_AGENT_EXPRESSION_H
#define QUIPU_DEBUG_AGENT_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    AGENT_STACK_MOST = 64,   /* values */
    AGENT_SIZE_MOST = 0xffff /* bytes of a program: what a jump can tell */
};

/* What an expression is about. */
struct agent_context {
    void *context;
    /* Sets VALUE to the register that the debugger gives that NUMBER. Returns false if it has none,
     * or one that is wider. */
    bool (*read_register)(void *context, unsigned number, uint64_t *value);
    bool (*read_memory)(void *context, uint64_t address, void *bytes, size_t size);
};

/* Whether CODE, SIZE bytes, is a program that agent_evaluate may be given. */
bool agent_verify(const uint8_t *code, size_t size);

/* Evaluates CODE, which was verified. RESULT becomes the value on the top of its stack. Returns
 * false if there is none: memory or a register that cannot be read, a division by zero. */
bool agent_evaluate(const uint8_t *code, const struct agent_context *context, uint64_t *result);

#endif

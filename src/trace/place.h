/* place.h: where an instruction is: function, source line, text. */
#ifndef QUIPU_TRACE_PLACE_H
#define QUIPU_TRACE_PLACE_H

#include "trace/trace.h"

struct step_place {
    const char *function; /* the symbol; of code that was moved out of the function, that code's */
    uint32_t offset;      /* from there, in the compiler's output */
    const char *file;     /* "": unknown */
    uint32_t line;        /* 0: unknown */
};

struct step_place find_step_place(const struct trace_step *step);

/* The same without file and line, which the binary's debug information has. */
struct step_place find_step_function(const struct trace_step *step);

/* Returns the bytes of the instruction, as the module's layout has it, and sets COUNT to how many
 * follow there; or NULL. */
const uint8_t *step_code(const struct trace_step *step, size_t *count);

/* Returns where a jump from FUNCTION to ADDRESS leaves the function: inserted code may be on the
 * way, as linked. */
uint64_t jump_target(const struct traced_function *function, uint64_t address);

/* Returns the instruction in AT&T syntax, in ARENA. The target of a jump within the function is
 * that of the original: in the binary the jump may lead to inserted code. */
const char *step_text(struct arena *arena, const struct trace_step *step);

#endif

/* red_zone.c: whether a function may use memory below its stack pointer.
 *
 * The System V ABI of x86-64 (section 3.2.2) gives a function 128 bytes there, the red zone.
 * Compilers use them in functions without calls only, as a callee would write over them. So the red
 * zone of compiled code is free
 *   - if no operand is at a negative distance from the stack pointer, and
 *   - the function calls another one, or no address derives from the stack pointer but those of
 *     operands at a fixed distance.
 *
 * requires: build_graph   makes: nothing
 * Not perfect: an instruction that stores the stack pointer itself, by a push or at an operand
 * relative to it, is not seen to derive an address. */
#include "flow/graph.h"
#include "x86/below_stack.h"

/* Whether it is a call that the compiler knows. */
static bool is_known_call(const struct graph *graph, const struct graph_instruction *instruction) {
    return is_call_class(instruction->decoded->class) &&
           !graph->unit->statements.data[instruction->statement].inline_asm;
}

bool leaves_red_zone_free(const struct graph *graph) {
    bool calls = false, derives = false;
    if (!graph->function->compiled)
        return false;
    for (size_t i = 0; i < graph->instructions.count; i++) {
        const struct graph_instruction *instruction = &graph->instructions.data[i];
        enum below_stack below = finds_below_stack(instruction->decoded);
        if (below == BELOW_STACK)
            return false;
        derives |= below == BELOW_STACK_PERHAPS;
        calls |= is_known_call(graph, instruction);
    }
    return calls || !derives;
}

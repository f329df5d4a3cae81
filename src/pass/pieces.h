/* pieces.h: the stretches of a function's code between inserted code, by which notes number the
 * ends of edges. */
#ifndef QUIPU_PASS_PIECES_H
#define QUIPU_PASS_PIECES_H

#include "pass/plan.h"

struct pieces {
    uint32_t *first; /* by block: number of its first piece */
    uint32_t count;  /* of the pieces of all blocks */
};

/* Instructions [from, to) of a block, and their position in the compiler's output. */
struct piece {
    uint32_t from, to;
    uint32_t offset, size; /* in bytes */
    uint32_t label;        /* number of the label (.LQb) at its first instruction */
};

struct pieces number_pieces(const struct graph *graph, const struct placed_block *placed);

/* Returns piece number PIECE of BLOCK, which is no padding. */
struct piece piece_at(const struct graph *graph, const struct basic_block *block,
                      const struct placed_block *placed, size_t piece);

/* Returns the number of END as the target or the source of an edge (format/notes.h). */
uint32_t target_number(const struct graph *graph, const struct pieces *pieces, uint32_t end);
uint32_t source_number(const struct graph *graph, const struct pieces *pieces, uint32_t end);

/* Switches to the section for notes of the function, in the group of its section. All notes of one
 * code section are linked to its first function. */
void enter_function_notes(struct pass_state *state, const struct asm_function *function,
                          uint32_t number);

#endif

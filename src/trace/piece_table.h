/* piece_table.h: data that an output keeps for each executed instruction, such as its text, so that
 * it is made only once. */
#ifndef QUIPU_TRACE_PIECE_TABLE_H
#define QUIPU_TRACE_PIECE_TABLE_H

#include "trace/trace.h"

enum {
    RECENT_PIECES = 1 << 10 /* a power of two */
};

struct recent_piece {
    const struct piece *piece; /* NULL: none */
    char *data;
};

/* A table of zeros, but for `size`, is empty. piece_table_release releases it. */
struct piece_table {
    size_t size; /* of the data of an instruction, in bytes */
    struct arena arena;
    struct map numbers;        /* by address of the piece: index of its data */
    VECTOR(char *) data;       /* of each piece: `size` bytes for each instruction */
    const struct piece *piece; /* the last one that was looked up */
    const struct traced_instruction *instructions; /* its own, and their data */
    char *last;
    struct recent_piece recent[RECENT_PIECES]; /* by address: a look into the map takes longer than
                                                  to regenerate the piece */
};

/* Makes the piece the last one that was looked up. */
void find_piece_data(struct piece_table *table, const struct piece *piece);

/* Returns the data of the executed instruction, which is zero the first time. It is valid as long
 * as the table. */
static inline void *instruction_data(struct piece_table *table, const struct trace_step *step) {
    if (table->piece != step->piece)
        find_piece_data(table, step->piece);
    return table->last + table->size * (size_t)(step->instruction - table->instructions);
}

void piece_table_release(struct piece_table *table);

#endif

/* piece_table.c: data for each executed instruction; see piece_table.h. */
#include "trace/piece_table.h"

/* Returns the data of PIECE, which is added if it is new. */
static char *look_up(struct piece_table *table, const struct piece *piece) {
    uint32_t *known = map_find(&table->numbers, (const char *)&piece, sizeof piece);
    if (!known) {
        known = map_add_copy(&table->arena, &table->numbers, &piece, sizeof piece,
                             (uint32_t)table->data.count);
        char *data = arena_alloc(&table->arena, table->size * piece->count);
        vector_push(&table->arena, &table->data, data);
    }
    return *vector_at(&table->data, *known);
}

void find_piece_data(struct piece_table *table, const struct piece *piece) {
    size_t number = (uintptr_t)piece / sizeof *piece % RECENT_PIECES;
    struct recent_piece *recent = &table->recent[number];
    if (recent->piece != piece)
        *recent = (struct recent_piece){piece, look_up(table, piece)};
    table->piece = piece;
    table->instructions = piece->instructions;
    table->last = recent->data;
}

void piece_table_release(struct piece_table *table) {
    arena_release(&table->arena);
}

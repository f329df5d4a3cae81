/* line_of.c: prints "FILE:LINE" of each address of a binary that standard input names, as quipu knows
 * it; "?:0" where it knows none. */
#include "symbols/line_table.h"

#include <inttypes.h>
#include <stdio.h>

int main(int count, char **arguments) {
    struct arena arena = {0};
    struct binary *binary;
    uint64_t address;
    const char *wrong = count == 2 ? binary_open(&arena, arguments[1], &binary) : "name a binary";
    if (wrong) {
        fprintf(stderr, "%s\n", wrong);
        return 1;
    }
    const struct line_table *table = binary_lines(binary);
    while (scanf("%" SCNx64, &address) == 1) {
        const struct line_row *row = line_table_find(table, address);
        printf("%s:%u\n", row ? table->files.data[row->file] : "?", row ? row->line : 0);
    }
    binary_close(binary);
    arena_release(&arena);
    return 0;
}

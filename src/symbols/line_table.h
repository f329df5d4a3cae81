/* line_table.h: which source line any address of a binary's code is of, out of .debug_line. */
#ifndef QUIPU_SYMBOLS_LINE_TABLE_H
#define QUIPU_SYMBOLS_LINE_TABLE_H

#include "symbols/binary.h"
#include "util/map.h"

/* Code from ADDRESS up to the next row's is of this line. */
struct line_row {
    uint64_t address;   /* as linked */
    uint32_t line;      /* 0: of no line that is known */
    uint32_t file : 31; /* index into line_table.files; 0: of none */
    uint32_t ends_prologue : 1;
};

/* Invariant: rows stand by their addresses, and behind each piece of code that has lines there is a
 * row of line 0.  Of several rows of one address the last one is the code's; the others have none.
 */
struct line_table {
    bool is_read;
    struct arena arena; /* of all that is here */
    VECTOR(struct line_row) rows;
    VECTOR(const char *) files; /* normalized; [0] is "" */
    struct map file_numbers;
};

/* Reads the lines that DWARF tells of the code in CODE, the file that is loaded: they may be two
 * files.  TABLE must be zeroed; line_table_release releases it. */
void line_table_read(struct line_table *table, Dwarf *dwarf, Elf *code);
void line_table_release(struct line_table *table);

/* The table of BINARY, which owns it, read at the first call; empty without debug information. */
const struct line_table *binary_lines(const struct binary *binary);

/* The files of TABLE that may have been meant by FILE, which it has not: as suggest() tells them.
 */
const char *suggest_source(struct arena *arena, const struct line_table *table, const char *file);

/* The row that tells the line of the code at ADDRESS; NULL: it is of no line that is known. */
const struct line_row *line_table_find(const struct line_table *table, uint64_t address);

#endif

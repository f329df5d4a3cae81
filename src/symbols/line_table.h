/* line_table.h: the source line of each address of a binary's code, from .debug_line. */
#ifndef QUIPU_SYMBOLS_LINE_TABLE_H
#define QUIPU_SYMBOLS_LINE_TABLE_H

#include "symbols/binary.h"
#include "util/map.h"

/* The code from ADDRESS to the next row's address is of this line. */
struct line_row {
    uint64_t address;   /* as linked */
    uint32_t line;      /* 0: unknown */
    uint32_t file : 31; /* index into line_table.files; 0: none */
    uint32_t ends_prologue : 1;
};

/* Invariant: rows are sorted by address. Behind each piece of code that has lines there is a row of
 * line 0. If several rows have the same address, the last one describes the code, and the others
 * have no code. */
struct line_table {
    bool is_read;
    struct arena arena; /* of all data here */
    VECTOR(struct line_row) rows;
    VECTOR(const char *) files; /* normalized; [0] is "" */
    struct map file_numbers;
};

/* Reads the lines that DWARF has for the code in CODE, the file that is loaded. DWARF may be from
 * another file. TABLE must be zeroed; line_table_release releases it. */
void line_table_read(struct line_table *table, Dwarf *dwarf, Elf *code);
void line_table_release(struct line_table *table);

/* Returns the table of BINARY, which owns it. The first call reads it. It is empty without debug
 * information. */
const struct line_table *binary_lines(const struct binary *binary);

/* Returns the files of TABLE that FILE may mean, as text from suggest(). FILE is not in TABLE. */
const char *suggest_source(struct arena *arena, const struct line_table *table, const char *file);

/* Returns the row of the code at ADDRESS, or NULL if its line is unknown. */
const struct line_row *line_table_find(const struct line_table *table, uint64_t address);

#endif

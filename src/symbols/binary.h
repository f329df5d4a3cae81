/* binary.h: an executable or shared object: its sections, bytes by address, and symbols.  libelf
 * and libdwfl end here, in line_table.c and in lines.c. */
#ifndef QUIPU_SYMBOLS_BINARY_H
#define QUIPU_SYMBOLS_BINARY_H

#include "util/arena.h"
#include "util/vector.h"

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbol {
    uint64_t address; /* as linked */
    uint64_t size;    /* 0: not told */
    const char *name;
};

struct segment {
    uint64_t address; /* as linked */
    uint64_t size;    /* bytes that the file has of it */
    uint64_t offset;  /* in the file */
    bool executable;
};

struct line_table; /* line_table.h */

/* Addresses of instructions, as linked. */
typedef VECTOR(uint64_t) address_list;

struct binary {
    const char *path;
    int fd;
    Elf *elf;
    Dwfl *dwfl;   /* NULL: neither symbols nor debug information could be read */
    Dwarf *dwarf; /* of the file or of its separate debug file; NULL: none.  Owned by dwfl */
    const uint8_t *bytes; /* the whole file */
    size_t size;
    const uint8_t *build_id;
    uint32_t build_id_size; /* 0: none */
    uint64_t cells_address; /* as linked */
    uint64_t cells_size;    /* bytes; 0: nothing in it is instrumented */
    VECTOR(struct segment) segments;
    VECTOR(struct symbol) symbols; /* by address, one for each address */
    VECTOR(struct symbol) names;   /* all, such as both names of a C++ constructor; unsorted */
    VECTOR(struct symbol) imports; /* by address of the slot that the loader fills in */
    struct line_table *lines;      /* owned; read when it is asked for: binary_lines */
};

/* Opens the program or shared object at PATH.  Returns NULL, or what is wrong; then nothing stays
 * open.  All but the handles lies in ARENA. */
const char *binary_open(struct arena *arena, const char *path, struct binary **result);

void binary_close(struct binary *binary);

/* Returns the bytes at ADDRESS of an executable segment, and in COUNT how many follow there; NULL
 * where there are none. */
const uint8_t *binary_code(const struct binary *binary, uint64_t address, size_t *count);

/* Returns the contents of section NAME, and their SIZE; NULL where there is no such section.  A
 * section beyond the file's end is set to NULL with SIZE not 0. */
const uint8_t *binary_section(const struct binary *binary, const char *name, size_t *size);

/* The address of section NAME, as linked; 0 where there is none, or it is not loaded. */
uint64_t binary_section_address(const struct binary *binary, const char *name);

/* The description, of SIZE bytes, of the runtime's loaded note of that TYPE, and its ADDRESS as
 * linked; NULL where there is none. */
const uint8_t *binary_note(const struct binary *binary, uint32_t type, size_t size,
                           uint64_t *address);

/* The address that the one with that NUMBER among the i32 DISTANCES at ADDRESS tells, each counted
 * from itself. */
uint64_t told_place(const uint8_t *distances, uint64_t address, size_t number);

/* The segment that ADDRESS lies in, with a byte of the file for it; NULL where none does. */
const struct segment *binary_segment(const struct binary *binary, uint64_t address);

/* Adds names that the symbol table does not have, such as those in the notes of a stripped binary.
 * The names must live as long as BINARY. */
void binary_add_symbols(struct arena *arena, struct binary *binary, const struct symbol *symbols,
                        size_t count);

/* The name of the symbol that stands right at ADDRESS; NULL where none does. */
const char *binary_symbol(const struct binary *binary, uint64_t address);

/* The symbol of the function that ADDRESS lies in, as far as symbols tell; NULL where none does. */
const struct symbol *binary_function(const struct binary *binary, uint64_t address);

/* Writes the name of ADDRESS into TEXT: "puts", "table+0x10", "puts@plt".  Returns false where it
 * has none. */
bool binary_name(const struct binary *binary, uint64_t address, char *text, size_t size);

#endif

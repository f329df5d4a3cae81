/* binary.h: an executable or shared object: its sections, bytes by address, and symbols. It hides
 * libelf and libdwfl from most of quipu. */
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
    uint64_t size;    /* 0: unknown */
    const char *name;
};

struct segment {
    uint64_t address; /* as linked */
    uint64_t size;    /* number of its bytes in the file */
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
    Dwfl *dwfl;           /* NULL: neither symbols nor debug information could be read */
    Dwarf *dwarf;         /* of the file or of its separate debug file; NULL: none. Owned by dwfl */
    const uint8_t *bytes; /* the whole file */
    size_t size;
    const uint8_t *build_id;
    uint32_t build_id_size; /* 0: none */
    uint64_t cells_address; /* as linked */
    uint64_t cells_size;    /* bytes; 0: no code in it is instrumented */
    VECTOR(struct segment) segments;
    VECTOR(struct symbol) symbols; /* sorted by address, one for each address */
    uint32_t *enclosing;           /* by symbol: 1 + the innermost other symbol whose size covers
                                      its address; 0: none */
    VECTOR(struct symbol) names;   /* all names, such as both of a C++ constructor; unsorted */
    VECTOR(struct symbol) imports; /* sorted by address of the slot that the loader fills in */
    struct line_table *lines;      /* owned; binary_lines reads it when it is first needed */
    struct scope_index *scopes;    /* of its debug information */
};

/* Opens the program or shared object at PATH. Returns NULL; or an error message, and then nothing
 * stays open. Everything except the handles is in ARENA. */
const char *binary_open(struct arena *arena, const char *path, struct binary **result);

void binary_close(struct binary *binary);

/* Returns the bytes at ADDRESS in an executable segment, or NULL if there are none. Sets COUNT to
 * the number of bytes from there to the segment's end. */
const uint8_t *binary_code(const struct binary *binary, uint64_t address, size_t *count);

/* Returns the contents of section NAME, or NULL if there is no such section. Sets SIZE. For a
 * section beyond the file's end, returns NULL with a SIZE that is not 0. */
const uint8_t *binary_section(const struct binary *binary, const char *name, size_t *size);

/* Returns the address of section NAME, as linked; 0 if there is no such section, or it is not
 * loaded. */
uint64_t binary_section_address(const struct binary *binary, const char *name);

/* Returns the description, of SIZE bytes, of the runtime's loaded note of TYPE, and sets ADDRESS to
 * its address as linked. Returns NULL if there is none. */
const uint8_t *binary_note(const struct binary *binary, uint32_t type, size_t size,
                           uint64_t *address);

/* Returns the address to which a distance points. It has the index NUMBER among the i32 DISTANCES,
 * which are at ADDRESS. A distance is relative to its own address. */
uint64_t relative_address(const uint8_t *distances, uint64_t address, size_t number);

/* Returns the segment that contains ADDRESS with a byte in the file, or NULL. */
const struct segment *binary_segment(const struct binary *binary, uint64_t address);

/* Adds names that the symbol table does not have, such as those in the notes of a stripped binary.
 * The names must live as long as BINARY. */
void binary_add_symbols(struct arena *arena, struct binary *binary, const struct symbol *symbols,
                        size_t count);

/* Returns the symbol NAME, the first one if there are several, or NULL. */
const struct symbol *binary_find_name(const struct binary *binary, const char *name);

/* Returns the name of the symbol whose address is ADDRESS, or NULL. */
const char *binary_symbol(const struct binary *binary, uint64_t address);

/* Returns the symbol of the function that contains ADDRESS, as far as the symbols show it, or NULL.
 */
const struct symbol *binary_function(const struct binary *binary, uint64_t address);

/* Returns the name that the loader binds to the slot at address SLOT, as linked, or NULL. */
const char *binary_import(const struct binary *binary, uint64_t slot);

/* Writes the name of ADDRESS into TEXT: "puts", "table+0x10", "puts@plt". Returns false if it has
 * none. */
bool binary_name(const struct binary *binary, uint64_t address, char *text, size_t size);

#endif

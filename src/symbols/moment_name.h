/* moment_name.h: moments as text: WHERE@TICKS[/THREAD][~BUILD].
 *
 *       worker+0x2c@1204311/1~1f3a9c2b    an instruction
 *       ns::pool::take(int)+0x2c@88       names of C++, D and Rust
 *       model::step+0x2c@88               names of Fortran, as in debug information
 *       worker.c:88@1204311               any instruction of the line
 *
 * THREAD is 1 if it is left out. BUILD is the first digits of the binary's build id; it is checked
 * if it is given. */
#ifndef QUIPU_SYMBOLS_MOMENT_NAME_H
#define QUIPU_SYMBOLS_MOMENT_NAME_H

#include "symbols/binary.h"

#include <stdint.h>

struct moment_name {
    const char *place; /* function or file */
    uint64_t offset;   /* in the function */
    unsigned line;     /* 0: `place` is a function */
    uint64_t ticks;
    uint32_t thread;
    const char *build; /* lower case digits, or "" */
};

/* Reads TEXT. Returns NULL or a message. All strings are in ARENA. */
const char *read_moment(struct arena *arena, const char *text, struct moment_name *name);

/* Whether the build id ID of SIZE bytes begins with the digits BUILD. This is true if BUILD is "".
 */
bool is_build_id(const uint8_t *id, size_t size, const char *build);

/* Finds the addresses that NAME may mean in BINARY, in all forms of a loop. Returns NULL, or a
 * message if there are none.
 */
const char *find_places(struct arena *arena, const struct binary *binary,
                        const struct moment_name *name, address_list *places);

/* Return the text of the location ADDRESS, as linked: "worker+0x2c"; and "worker.c:88", or "" if
 * the line is not known. */
const char *place_text(struct arena *arena, const struct binary *binary, uint64_t address);
const char *line_text(struct arena *arena, const struct binary *binary, uint64_t address);

/* Returns the source file of the code at ADDRESS, as linked, and its LINE; NULL if they are not
 * known. */
const char *find_line(struct arena *arena, const struct binary *binary, uint64_t address,
                      unsigned *line);

/* Returns what the names of moments in BINARY end with: "~1f3a9c2b", or "" if it has no build id.
 */
const char *build_text(struct arena *arena, const struct binary *binary);

/* Returns the whole name of a moment. ADDRESS: if it may be in a loop with two forms, in the
 * recorded one (loop_forms.h). */
const char *moment_text(struct arena *arena, const struct binary *binary, uint64_t address,
                        uint64_t ticks, uint64_t thread);

#endif

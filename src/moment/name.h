/* name.h: moments as text: WHERE@TICKS[/THREAD][~BUILD].
 *
 *     worker+0x2c@1204311/1~1f3a9c2b    an instruction
 *     ns::pool::take(int)+0x2c@88       C++'s, D's and Rust's names do, too
 *     model::step+0x2c@88           Fortran's, as debug information has them
 *     worker.c:88@1204311               the line's, whichever of its instructions it is
 *
 * THREAD is 1 where it is left out; BUILD, the first digits of the binary's build id, is checked
 * where it is given. */
#ifndef QUIPU_MOMENT_NAME_H
#define QUIPU_MOMENT_NAME_H

#include "symbols/binary.h"

#include <stdint.h>

struct moment_name {
    const char *place; /* function, or file */
    uint64_t offset;   /* in the function */
    unsigned line;     /* 0: it is a function */
    uint64_t ticks;
    uint32_t thread;
    const char *build; /* lower case digits, or "" */
};

/* Reads TEXT.  Returns NULL, or what is wrong with it; all lies in ARENA. */
const char *read_moment(struct arena *arena, const char *text, struct moment_name *name);

/* Whether the build id ID of SIZE bytes begins with the digits BUILD, as "" does. */
bool is_build_id(const uint8_t *id, size_t size, const char *build);

/* Finds the addresses that NAME may mean in BINARY.  Returns NULL, or why there are none. */
const char *find_places(struct arena *arena, const struct binary *binary,
                        const struct moment_name *name, address_list *places);

/* ADDRESS, as linked, as the text of a place: "worker+0x2c", and "worker.c:88", "" where that is
 * not known. */
const char *place_text(struct arena *arena, const struct binary *binary, uint64_t address);
const char *line_text(struct arena *arena, const struct binary *binary, uint64_t address);

/* The source file of the code at ADDRESS, as linked, and its LINE; NULL where they are not known.
 */
const char *find_line(struct arena *arena, const struct binary *binary, uint64_t address,
                      unsigned *line);

/* Adds the symbols of the functions that are inlined where ADDRESS is, as linked, the outermost
 * first; of one without a symbol its name.  All lies in ARENA. */
typedef VECTOR(const char *) name_list;
void find_inlined(struct arena *arena, const struct binary *binary, uint64_t address,
                  name_list *names);

/* Adds the source files whose the code at ADDRESS is, as linked: those of the functions that it is
 * in, from the innermost one on, up to the first that stands in the file that the compiler was
 * given.  So code of headers is theirs and the file's that includes them; not that of functions
 * that several files may share, out of line, which is the header's alone.  All lies in ARENA. */
void find_sources(struct arena *arena, const struct binary *binary, uint64_t address,
                  name_list *files);

/* The whole name of a moment. */
const char *moment_text(struct arena *arena, const struct binary *binary, uint64_t address,
                        uint64_t ticks, uint64_t thread);

#endif

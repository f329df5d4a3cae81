/* moment_name.h: moments as text: WHERE@TICKS[/THREAD][~BUILD].
 *
 *       worker+0x2c@1204311/1~1f3a9c2b    an instruction
 *       ns::pool::take(int)+0x2c@88       names of C++, D and Rust
 *       model::step+0x2c@88               names of Fortran, as in debug information
 *       worker.c:88@1204311               any instruction of the line
 *
 * THREAD is 1 if it is left out. BUILD is the first digits of the binary's build id; it is checked
 * if it is given.
 *
 * In a recording a thread also has a name that does not depend on races, such as "1/2:3"
 * (replay/names.h), and a moment within code that does not tick has the number of the system
 * call, from 1, that the thread has begun last since its ticks have the number TICKS:
 *
 *       main+0x8e@41#3/1:2        in its third call, or behind it; main has called that code */
#ifndef QUIPU_SYMBOLS_MOMENT_NAME_H
#define QUIPU_SYMBOLS_MOMENT_NAME_H

#include "symbols/binary.h"

#include <stdint.h>

struct moment_name {
    const char *place; /* function or file */
    uint64_t offset;   /* in the function */
    unsigned line;     /* 0: `place` is a function */
    uint64_t ticks;
    uint64_t calls;          /* 0: the moment is of an instruction */
    uint32_t thread;         /* 0: only its name is known */
    const char *thread_name; /* "1", "3", "1/2:3" */
    const char *build;       /* lower case digits, or "" */
};

/* Reads TEXT. Returns NULL or a message. All strings are in ARENA. */
const char *read_recorded_moment(struct arena *arena, const char *text, struct moment_name *name);

/* The same, for a run that is not recorded: it has neither names of threads nor numbers of calls.
 */
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

/* The same in a recording. ADDRESS 0: no such code has called the code where the thread is. CALLS
 * 0: it is in that instruction, or has begun no system call since. */
const char *recorded_moment_text(struct arena *arena, const struct binary *binary, uint64_t address,
                                 uint64_t ticks, uint64_t calls, const char *thread);

#endif

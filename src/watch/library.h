/* library.h: the program and the shared objects that run with it, whose variables can be named.
 *
 * Those of a program that is started are what its loader says that it will load; those of a process
 * are what it has mapped.  They are opened, and their debug information is read, when a name is
 * looked for in them. */
#ifndef QUIPU_WATCH_LIBRARY_H
#define QUIPU_WATCH_LIBRARY_H

#include "symbols/variables.h"

#include <sys/types.h>

struct library {
    const char *path; /* as the loader or the process says */
    const char *real; /* where that leads */
    bool is_late;     /* it is not there from the start on */
    uint64_t bias;    /* in a process that runs already: where it runs, less where it was linked */
    bool is_open;
    const char *wrong;     /* why it cannot be opened, or has no variables; NULL: it has */
    struct binary *binary; /* NULL: it cannot be opened */
    struct variables variables;
};

struct libraries {
    struct arena *arena;
    struct library program;
    VECTOR(struct library *) all; /* but the program, in the order in which they are searched */
    pid_t process;                /* that runs already; 0: the program is to be started */
    bool is_listed;
};

/* Notes the program, which has been opened as BINARY. */
void begin_libraries(struct arena *arena, const char *file, struct binary *binary, pid_t process,
                     struct libraries *libraries);

/* Finds those that run with the program, if that was not done yet. */
void list_libraries(struct libraries *libraries);

/* Opens LIBRARY and reads its variables.  Returns NULL, or what is wrong. */
const char *open_library(struct libraries *libraries, struct library *library);

/* The one that NAME, of LENGTH bytes, means: "libz.so", "libz.so.1", the end of its path; or a file
 * that the program may load later.  NULL: there is none, as WRONG tells. */
struct library *find_library(struct libraries *libraries, const char *name, size_t length,
                             const char **wrong);

/* The first NAME that TEXT has in front of a ':' that may be a shared object's.  Returns NULL where
 * there is none, else it, and its LENGTH. */
const char *find_library_name(const char *text, size_t *length);

/* Whether LIBRARY came with the system, and is not what somebody works on. */
bool is_of_system(const struct library *library);

/* Whether LIBRARY has a symbol NAME; it has been opened. */
bool has_symbol(const struct library *library, const char *name);

/* Where PROCESS has mapped the file of BINARY, less where that was linked.  Returns false where it
 * has not. */
bool find_bias(const struct binary *binary, pid_t process, uint64_t *bias);

/* The path of the one that was opened and has that BUILD_ID, of SIZE bytes; NULL: there is none. */
const char *find_opened_path(const struct libraries *libraries, const uint8_t *build_id,
                             size_t size);

/* The path of the file that PROCESS has mapped at ADDRESS; NULL: it has none there. */
const char *find_mapped_path(struct arena *arena, pid_t process, uint64_t address);

/* The place, as linked, that PROGRAM has for what is at ADDRESS of LIBRARY: it was linked with a
 * copy of the variable there.  Returns false where it has none. */
bool find_copy_in(const struct binary *program, const struct binary *library, uint64_t address,
                  uint64_t *place);

void close_libraries(struct libraries *libraries);

#endif

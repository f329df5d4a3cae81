/* library.h: the program and its shared objects, whose variables can be named.
 *
 * Before a program starts, its shared objects are those that the loader lists; those of a process
 * are the files that it has mapped. A shared object is opened, and its debug information is read,
 * when a name is first looked up in it. */
#ifndef QUIPU_WATCH_LIBRARY_H
#define QUIPU_WATCH_LIBRARY_H

#include "symbols/variables.h"

#include <sys/types.h>

struct library {
    const char *path; /* from the loader or the process's memory map */
    const char *real; /* without symbolic links */
    bool is_late;     /* the program may load it later */
    uint64_t bias;    /* in a running process: its load address minus its address as linked */
    bool is_open;
    const char *wrong;     /* why its variables cannot be used; NULL: they can */
    struct binary *binary; /* NULL: it cannot be opened */
    struct variables variables;
};

struct libraries {
    struct arena *arena;
    struct library program;
    VECTOR(struct library *) all; /* without the program; in the order of the search */
    pid_t process;                /* the running process; 0: the program will be started */
    bool is_listed;
};

/* Starts with the program, which has been opened as BINARY. */
void begin_libraries(struct arena *arena, const char *file, struct binary *binary, pid_t process,
                     struct libraries *libraries);

/* Lists the shared objects of the program, if that was not done yet. */
void list_libraries(struct libraries *libraries);

/* Opens LIBRARY and reads its variables. Returns NULL or an error message. */
const char *open_library(struct libraries *libraries, struct library *library);

/* Returns the shared object that NAME, of LENGTH bytes, means: "libz.so", "libz.so.1", the end of a
 * path, or a file that the program may load later. NULL: there is none; WRONG is the message. */
struct library *find_library(struct libraries *libraries, const char *name, size_t length,
                             const char **wrong);

/* Returns the first name in TEXT that is followed by ':' and may be that of a shared object, and
 * its LENGTH; NULL if there is none. */
const char *find_library_name(const char *text, size_t *length);

/* Whether LIBRARY belongs to the system, and so is probably not what the user works on. */
bool is_of_system(const struct library *library);

/* Whether LIBRARY, which is open, has a symbol NAME. */
bool has_symbol(const struct library *library, const char *name);

/* Sets BIAS to the load address of BINARY's file in PROCESS, minus its address as linked. Returns
 * false if it is not mapped. */
bool find_bias(const struct binary *binary, pid_t process, uint64_t *bias);

/* Returns the path of the open shared object with that BUILD_ID, of SIZE bytes, or NULL. */
const char *find_opened_path(const struct libraries *libraries, const uint8_t *build_id,
                             size_t size);

/* Returns the path of the file that PROCESS has mapped at ADDRESS, or NULL. */
const char *find_mapped_path(struct arena *arena, pid_t process, uint64_t address);

/* Finds the copy of a shared object's variable in the program (R_X86_64_COPY). PLACE becomes the
 * address in PROGRAM, as linked, of what is at ADDRESS of LIBRARY. Returns false if there is no
 * copy. */
bool find_copy_in(const struct binary *program, const struct binary *library, uint64_t address,
                  uint64_t *place);

void close_libraries(struct libraries *libraries);

#endif

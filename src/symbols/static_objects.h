/* static_objects.h: the variables of a program or shared object by their addresses, from its symbol
 * table, with the names that its debug information has. */
#ifndef QUIPU_SYMBOLS_STATIC_OBJECTS_H
#define QUIPU_SYMBOLS_STATIC_OBJECTS_H

#include "symbols/binary.h"

struct static_object {
    uint64_t
        address;   /* as linked; of a thread-local one: from the module's first thread-local byte */
    uint64_t size; /* bytes, at least 1 */
    const char *name; /* "table", "calls::count"; of a section: ".rodata" */
    const char *file; /* source file; NULL: not known */
    bool is_section;  /* all that no variable of the section contains */
};

typedef VECTOR(struct static_object) object_list;

struct static_objects {
    object_list variables;     /* sorted by address; none contains the begin of another one */
    object_list thread_locals; /* the same */
    object_list sections;      /* the same; only those that are loaded */
    /* The end of the thread-local bytes of a program, rounded up to their alignment. The thread
     * pointer is at this end (ELF Handling For Thread-Local Storage, variant II). 0: none, or this
     * is a shared object, whose place is not fixed. */
    uint64_t thread_local_end;
};

/* Reads the variables of BINARY. All data are in ARENA. */
void read_static_objects(struct arena *arena, const struct binary *binary,
                         struct static_objects *objects);

/* Returns the object of LIST that contains ADDRESS, or NULL. */
const struct static_object *object_around(const object_list *list, uint64_t address);

/* Returns the variable, or else the section, that contains ADDRESS, as linked; NULL: none. */
const struct static_object *find_static_object(const struct static_objects *objects,
                                               uint64_t address);

#endif

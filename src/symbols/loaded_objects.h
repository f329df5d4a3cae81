/* loaded_objects.h: the shared objects of a process by the loader's own list. */
#ifndef QUIPU_SYMBOLS_LOADED_OBJECTS_H
#define QUIPU_SYMBOLS_LOADED_OBJECTS_H

#include <elfutils/libdwfl.h>
#include <stdint.h>
#include <sys/types.h>

/* Reports to DWFL the shared objects of PROCESS which the kernel does not know as mapped files: a
 * replayed process has copies of them. */
void report_loaded_objects(Dwfl *dwfl, pid_t process);

/* Calls VISIT with CONTEXT for each object of the list: with its PATH, which is empty for the
 * program, and its load BIAS. */
void visit_loaded_objects(pid_t process,
                          void (*visit)(void *context, const char *path, uint64_t bias),
                          void *context);

#endif

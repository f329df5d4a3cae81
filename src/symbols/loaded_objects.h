/* loaded_objects.h: the shared objects of a process by the loader's own list. */
#ifndef QUIPU_SYMBOLS_LOADED_OBJECTS_H
#define QUIPU_SYMBOLS_LOADED_OBJECTS_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Calls TAKE for each shared object of PROCESS that the loader's list has: its PATH as the loader
 * has found it, and its load BIAS; not if another file is there by now. Stops where TAKE returns
 * false. */
void list_loaded_objects(pid_t process,
                         bool (*take)(void *context, const char *path, uint64_t bias),
                         void *context);

/* Reports to DWFL the shared objects of PROCESS which the kernel does not know as mapped files: a
 * replayed process has copies of them. */
void report_loaded_objects(Dwfl *dwfl, pid_t process);

#endif

/* shared_text.c: see shared_text.h.
 *
 * Programs that compile at run time may map their code twice: once to write it, and once to execute
 * it. The kernel lets no tracer write to a shared mapping that is not to be written. */
#include "tracee/shared_text.h"

#include "tracee/tracee.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Sets PLACE to that of ADDRESS in the file SHARED. Returns false if another file, or none, is
 * mapped there. */
static bool find_place(pid_t process, int shared, uint64_t address, uint64_t *place) {
    char path[64], *line = NULL, *at;
    size_t room = 0;
    struct stat status;
    bool found = false;
    if (fstat(shared, &status) != 0)
        return false;
    snprintf(path, sizeof path, "/proc/%d/maps", (int)process);
    FILE *file = fopen(path, "re");
    while (file && !found && getline(&line, &room, file) > 0) {
        uint64_t start = strtoull(line, &at, 16), end = strtoull(at + 1, &at, 16);
        if (address - start >= end - start)
            continue;
        static const int protection_size = 6; /* " r-xs " */
        uint64_t offset = strtoull(at + protection_size, &at, 16);
        strtoull(at, &at, 16); /* the device */
        strtoull(at + 1, &at, 16);
        found = strtoull(at, &at, 10) == status.st_ino;
        *place = offset + (address - start);
    }
    free(line);
    if (file)
        fclose(file);
    return found;
}

bool write_text(pid_t process, int shared, uint64_t address, const void *bytes, size_t size) {
    uint64_t place;
    return write_memory(process, address, bytes, size) ||
           (find_place(process, shared, address, &place) &&
            pwrite(shared, bytes, size, (off_t)place) == (ssize_t)size);
}

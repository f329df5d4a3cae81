/* shared_text.c: see shared_text.h.
 *
 * Programs that compile at run time may map their code twice: once to write it, and once to execute
 * it. The kernel lets no tracer write to a shared mapping that is not to be written. */
#include "tracee/shared_text.h"

#include "tracee/tracee.h"
#include "util/memory_map.h"

#include <sys/stat.h>
#include <unistd.h>

/* Sets PLACE to that of ADDRESS in the file SHARED. Returns false if another file, or none, is
 * mapped there. */
static bool find_place(pid_t process, int shared, uint64_t address, uint64_t *place) {
    struct memory_map map;
    struct memory_mapping mapping;
    struct stat status;
    bool found = false;
    if (fstat(shared, &status) != 0)
        return false;
    memory_map_open(&map, process);
    while (!found && memory_map_next(&map, &mapping)) {
        uint64_t place_in_mapping = address - mapping.start;
        found = place_in_mapping < mapping.end - mapping.start && mapping.inode == status.st_ino;
        *place = mapping.offset + place_in_mapping;
    }
    memory_map_close(&map);
    return found;
}

bool write_text(pid_t process, int shared, uint64_t address, const void *bytes, size_t size) {
    uint64_t place;
    return write_memory(process, address, bytes, size) ||
           (find_place(process, shared, address, &place) &&
            pwrite(shared, bytes, size, (off_t)place) == (ssize_t)size);
}

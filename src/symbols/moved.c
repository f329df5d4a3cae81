/* moved.c: binaries that are no longer where they ran; see moved.h.
 *
 * Only the build id tells that a file is the right one, so a binary without one is not found. */
#include "symbols/moved.h"

#include <stdlib.h>
#include <string.h>

/* Opens the binary at PATH, if it has the build id. */
static struct binary *open_build(struct arena *arena, const char *path, const uint8_t *build_id,
                                 uint32_t size) {
    struct binary *binary;
    if (binary_open(arena, path, &binary))
        return NULL;
    uint32_t compared = binary->build_id_size < size ? binary->build_id_size : size;
    if (compared && memcmp(binary->build_id, build_id, compared) == 0)
        return binary;
    binary_close(binary);
    return NULL;
}

struct binary *open_moved(struct arena *arena, const char *path, const uint8_t *build_id,
                          uint32_t size) {
    const char *directories = getenv("QUIPU_BINARIES");
    const char *name = strrchr(path, '/');
    if (!directories || !name || !size)
        return NULL;
    struct binary *binary = NULL;
    while (*directories && !binary) {
        int length = (int)strcspn(directories, ":");
        const char *below = arena_print(arena, "%.*s%s", length, directories, path);
        const char *beside = arena_print(arena, "%.*s%s", length, directories, name);
        if (length)
            binary = open_build(arena, below, build_id, size);
        if (length && !binary)
            binary = open_build(arena, beside, build_id, size);
        directories += length + (directories[length] == ':');
    }
    return binary;
}

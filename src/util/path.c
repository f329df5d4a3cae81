/* path.c: file names as text; see path.h. */
#include "util/path.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Removes the last part from the LENGTH bytes of TEXT, "a/b" to "a". Returns the new length. */
static size_t drop_part(const char *text, size_t length, bool absolute) {
    while (length > absolute && text[length - 1] != '/')
        length--;
    if (length > 1 || (length == 1 && !absolute))
        length--; /* the slash */
    return length;
}

const char *last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool ends_in(const char *path, const char *name) {
    size_t own = strlen(path), length = strlen(name);
    return own >= length && strcmp(path + own - length, name) == 0 &&
           (own == length || path[own - length - 1] == '/');
}

char *normalize_path(struct arena *arena, const char *path) {
    bool absolute = *path == '/';
    char *result = arena_alloc(arena, strlen(path) + 2);
    size_t length = 0, kept = 0; /* kept: length of the leading ".." parts of a relative path */
    if (absolute)
        result[length++] = '/';
    while (*path) {
        size_t part = strcspn(path, "/");
        bool up = part == 2 && memcmp(path, "..", 2) == 0;
        bool here = part == 0 || (part == 1 && *path == '.');
        if (up && (absolute || length > kept)) {
            length = drop_part(result, length, absolute);
        } else if (!here) {
            if (length && result[length - 1] != '/')
                result[length++] = '/';
            memcpy(result + length, path, part);
            length += part;
            if (up)
                kept = length;
        }
        path += part;
        path += *path == '/';
    }
    if (!length)
        result[length++] = '.';
    result[length] = '\0';
    return result;
}

char *path_in(struct arena *arena, const char *directory, const char *name) {
    bool relative = *name != '/' && directory;
    return normalize_path(arena, relative ? arena_print(arena, "%s/%s", directory, name) : name);
}

const char *next_directory(struct arena *arena, const char **rest) {
    if (!*rest || !**rest)
        return NULL;
    size_t length = strcspn(*rest, ":");
    const char *directory = length ? arena_copy(arena, *rest, length) : ".";
    *rest += length + ((*rest)[length] == ':');
    return directory;
}

const char *find_program(struct arena *arena, const char *name) {
    const char *rest = getenv("PATH");
    if (strchr(name, '/'))
        return access(name, X_OK) == 0 ? name : NULL;
    for (const char *directory; (directory = next_directory(arena, &rest));) {
        const char *path = arena_print(arena, "%s/%s", directory, name);
        if (access(path, X_OK) == 0)
            return path;
    }
    return NULL;
}

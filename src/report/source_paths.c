/* source_paths.c: names of source files for other tools; see source_paths.h. */
#include "report/source_paths.h"

#include "util/path.h"

#include <string.h>

const char *path_below(const char *path, const char *root) {
    size_t length = strlen(root);
    if (strcmp(root, "/") == 0)
        return *path == '/' ? path + 1 : NULL;
    if (strcmp(root, ".") == 0)
        return *path != '/' ? path : NULL;
    if (strncmp(path, root, length) != 0 || path[length] != '/')
        return NULL;
    return path + length + 1;
}

char *common_directory(struct arena *arena, const char *const *paths, size_t count) {
    const char *first = NULL;
    size_t length = 0; /* of the directory, its slash included */
    for (size_t i = 0; i < count; i++) {
        if (!paths[i])
            continue;
        if (*paths[i] != '/')
            return arena_copy(arena, ".", 1);
        if (!first) {
            first = paths[i];
            length = (size_t)(strrchr(first, '/') - first) + 1;
        }
        size_t same = 0;
        while (same < length && paths[i][same] == first[same])
            same++;
        while (same && first[same - 1] != '/')
            same--;
        length = same;
    }
    if (!first)
        return arena_copy(arena, ".", 1);
    return arena_copy(arena, first, length > 1 ? length - 1 : 1);
}

const char **source_files(struct arena *arena, const struct profile *profile, const char *root) {
    const char **files = ARENA_ARRAY(arena, const char *, profile->files.count + 1);
    for (size_t i = 1; i < profile->files.count; i++) {
        const char *file = normalize_path(arena, profile->files.data[i]);
        if (!root || path_below(file, root))
            files[i] = file;
    }
    return files;
}

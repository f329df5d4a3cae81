/* memory_map.c: see memory_map.h. */
#include "util/memory_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool memory_map_open(struct memory_map *map, pid_t process) {
    char name[64];
    snprintf(name, sizeof name, "/proc/%d/maps", (int)process);
    *map = (struct memory_map){.file = fopen(name, "re")};
    return map->file;
}

/* Ends TEXT at the line's end, and decodes the only escape that the kernel makes. */
static void end_path(char *text) {
    char *out = text;
    for (const char *in = text; *in && *in != '\n'; out++) {
        bool is_escaped = strncmp(in, "\\012", 4) == 0;
        *out = is_escaped ? '\n' : *in;
        in += is_escaped ? 4 : 1;
    }
    *out = '\0';
}

bool read_memory_mapping(char *line, struct memory_mapping *mapping) {
    char *at;
    *mapping = (struct memory_mapping){.start = strtoull(line, &at, 16)};
    if (at == line || *at != '-')
        return false;
    mapping->end = strtoull(at + 1, &at, 16);
    if (strlen(at) < strlen(" rwxp "))
        return false;
    mapping->protection = (at[1] == 'r' ? PROT_READ : 0) | (at[2] == 'w' ? PROT_WRITE : 0) |
                          (at[3] == 'x' ? PROT_EXEC : 0);
    mapping->is_shared = at[4] == 's';
    mapping->offset = strtoull(at + strlen(" rwxp "), &at, 16);
    mapping->device = strtoull(at, &at, 16) << 32;
    mapping->device |= strtoull(at + (*at == ':'), &at, 16);
    mapping->inode = strtoull(at, &at, 10);
    at += strspn(at, " ");
    mapping->path = at;
    mapping->is_file = *at == '/';
    end_path(at);
    return true;
}

bool memory_map_next(struct memory_map *map, struct memory_mapping *mapping) {
    return map->file && getline(&map->line, &map->room, map->file) > 0 &&
           read_memory_mapping(map->line, mapping);
}

bool memory_map_close(struct memory_map *map) {
    bool is_good = map->file && !ferror(map->file);
    int cause = errno;
    if (map->file)
        fclose(map->file);
    free(map->line);
    errno = cause;
    return is_good;
}

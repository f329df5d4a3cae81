/* known_files.c: facts about parts of files; see known_files.h.
 *
 * Not perfect: a file that another process has mapped, and changes so, may keep its time of change
 * for a while. */
#include "replay/known_files.h"

#include <sys/stat.h>
#include <time.h>

enum {
    SECONDS_LEAST = 2 /* since the last change */
};

bool describe_part(const char *path, uint64_t offset, uint64_t length, struct file_part *part) {
    struct stat status;
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode) ||
        status.st_ctim.tv_sec + SECONDS_LEAST >= time(NULL))
        return false;
    *part = (struct file_part){
        .device = status.st_dev,
        .inode = status.st_ino,
        .size = (uint64_t)status.st_size,
        .seconds = (uint64_t)status.st_ctim.tv_sec,
        .nanoseconds = (uint64_t)status.st_ctim.tv_nsec,
        .offset = offset,
        .length = length,
    };
    return true;
}

uint32_t *find_part(const struct known_parts *known, const struct file_part *part) {
    return map_find(&known->map, (const char *)part, sizeof *part);
}

void add_part(struct known_parts *known, const struct file_part *part, uint32_t number) {
    map_add_copy(&known->arena, &known->map, part, sizeof *part, number);
}

void forget_parts(struct known_parts *known) {
    arena_release(&known->arena);
    *known = (struct known_parts){0};
}

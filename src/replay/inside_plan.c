/* inside_plan.c: finds how system call instructions can be replaced; see inside_plan.h.
 *
 * A function is what the call frame information says, which stripped files have, too. Padding is
 * what is between two functions, if all of it is no-operations or traps.
 *
 * Invariant: no byte of padding belongs to two plans.
 *
 * Not perfect: code without call frame information, or in a file that has changed in the last
 * seconds, is not replaced. */
#include "replay/inside_plan.h"

#include "symbols/code_ranges.h"
#include "x86/counter_read.h"
#include "x86/kernel.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct inside_file {
    const uint8_t *bytes; /* the file, mapped */
    size_t size;
    code_range_list ranges;
    VECTOR(struct inside_plan *) plans;
    VECTOR(uint64_t) used; /* offsets of padding */
};

static void map_file(struct arena *arena, const char *path, size_t size, struct inside_file *file) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    uint8_t *bytes = fd >= 0 && size ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    if (bytes != MAP_FAILED) {
        file->bytes = bytes;
        file->size = size;
        read_code_ranges(arena, fd, &file->ranges);
    }
    if (fd >= 0)
        close(fd);
}

/* Returns the file at PATH, or NULL if it cannot be known. */
static struct inside_file *find_file(struct inside_files *files, const char *path) {
    struct file_part part;
    if (!describe_part(path, 0, 0, &part))
        return NULL;
    const uint32_t *index = find_part(&files->known, &part);
    if (index)
        return files->files.data[*index];
    struct inside_file *file = arena_alloc(&files->arena, sizeof *file);
    *file = (struct inside_file){0};
    map_file(&files->arena, path, part.size, file);
    add_part(&files->known, &part, (uint32_t)files->files.count);
    vector_push(&files->arena, &files->files, file);
    return file;
}

static void unmap_file(struct inside_file *file) {
    if (file && file->bytes)
        munmap((void *)file->bytes, file->size);
}

/* Returns the file at PATH, which has changed in the last seconds, as it is now; or NULL. */
static struct inside_file *find_young_file(struct inside_files *files, const char *path) {
    struct stat status;
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
        return NULL;
    const struct timespec *now = &status.st_ctim, *then = &files->young_changed;
    if (files->young && strcmp(files->young_path, path) == 0 && now->tv_sec == then->tv_sec &&
        now->tv_nsec == then->tv_nsec)
        return files->young;
    unmap_file(files->young);
    files->young = arena_alloc(&files->arena, sizeof *files->young);
    *files->young = (struct inside_file){0};
    files->young_path = arena_copy(&files->arena, path, strlen(path));
    files->young_changed = *now;
    map_file(&files->arena, path, (size_t)status.st_size, files->young);
    return files->young;
}

/* Returns the file at PATH, however young it is, or NULL. */
static const struct inside_file *find_any_file(struct inside_files *files, const char *path) {
    const struct inside_file *file = find_file(files, path);
    return file ? file : find_young_file(files, path);
}

static bool is_used(const struct inside_file *file, uint64_t offset) {
    for (size_t i = 0; i < file->used.count; i++)
        if (file->used.data[i] < offset + CALL_JUMP_SIZE &&
            offset < file->used.data[i] + CALL_JUMP_SIZE)
            return true;
    return false;
}

/* Returns an offset between START and END, where there is only padding, that a short jump at CALL
 * reaches; 0 if there is none. */
static uint64_t find_room(const struct inside_file *file, uint64_t start, uint64_t end,
                          uint64_t call) {
    if (end > file->size || end < start || end - start < CALL_JUMP_SIZE ||
        !is_padding(file->bytes + start, end - start))
        return 0;
    for (uint64_t at = start; at + CALL_JUMP_SIZE <= end; at++)
        if (reaches_padding(call, at) && !is_used(file, at))
            return at;
    return 0;
}

/* Returns the index of the first range that ends behind what a short jump at CALL reaches. */
static size_t first_range(const struct inside_file *file, uint64_t call) {
    size_t low = 0, high = file->ranges.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (file->ranges.data[middle].offset + CALL_REACH < call)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? low - 1 : 0;
}

static uint64_t find_padding(const struct inside_file *file, uint64_t call) {
    uint64_t room = 0, end = 0;
    size_t first = first_range(file, call);
    first = first > 1 ? first - 1 : 0;
    for (size_t i = first; i < file->ranges.count && !room; i++) {
        const struct code_range *range = &file->ranges.data[i];
        if (i > first && range->offset > end)
            room = find_room(file, end, range->offset, call);
        if (range->offset > call + CALL_REACH)
            break;
        if (range->offset + range->size > end)
            end = range->offset + range->size;
    }
    return room;
}

static void make_plan(struct arena *arena, struct inside_file *file, struct inside_plan *plan) {
    uint64_t call = plan->offset;
    const struct code_range *range = find_code_range(&file->ranges, call);
    if (!range || range->offset + range->size > file->size ||
        range->offset + range->size < call + CALL_SIZE || !is_system_call(file->bytes + call) ||
        !is_instruction_at(file->bytes + range->offset, range->size, call - range->offset))
        return;
    uint64_t padding = find_padding(file, call);
    if (padding) {
        plan->padding = (int16_t)(padding - call);
        memcpy(plan->padding_code, file->bytes + padding, CALL_JUMP_SIZE);
        vector_push(arena, &file->used, padding);
    } else {
        plan->moved =
            (uint8_t)bytes_to_move(file->bytes + range->offset, range->size, call - range->offset);
    }
    memcpy(plan->code, file->bytes + call, CALL_SIZE + plan->moved);
}

const struct inside_plan *find_inside_plan(struct inside_files *files, const char *path,
                                           uint64_t offset) {
    struct inside_file *file = find_file(files, path);
    if (!file || !file->bytes || offset + CALL_SIZE > file->size)
        return NULL;
    for (size_t i = 0; i < file->plans.count; i++)
        if (file->plans.data[i]->offset == offset)
            return file->plans.data[i];
    struct inside_plan *plan = arena_alloc(&files->arena, sizeof *plan);
    *plan = (struct inside_plan){.offset = offset};
    make_plan(&files->arena, file, plan);
    vector_push(&files->arena, &file->plans, plan);
    return plan;
}

const uint8_t *find_code_function(struct inside_files *files, const char *path, uint64_t offset,
                                  size_t *size, size_t *place) {
    const struct inside_file *file = find_any_file(files, path);
    const struct code_range *range =
        file && file->bytes ? find_code_range(&file->ranges, offset) : NULL;
    if (!range || range->offset + range->size > file->size)
        return NULL;
    *size = range->size;
    *place = offset - range->offset;
    return file->bytes + range->offset;
}

/* Whether a short jump of another function than that at FROM goes to between FROM and TO. */
static bool is_jumped_into_nearby(const struct inside_file *file, uint64_t from, uint64_t to) {
    for (size_t i = first_range(file, from); i < file->ranges.count; i++) {
        const struct code_range *range = &file->ranges.data[i];
        if (range->offset > to + CALL_REACH)
            break;
        bool is_own = from - range->offset < range->size;
        if (!is_own && range->offset + range->size <= file->size &&
            is_jumped_into_from(file->bytes + range->offset, range->size,
                                (int64_t)(from - range->offset), (int64_t)(to - range->offset)))
            return true;
    }
    return false;
}

bool is_entered_from_other_functions(struct inside_files *files, const char *path, uint64_t from,
                                     uint64_t to) {
    const struct inside_file *file = find_any_file(files, path);
    if (!file || !file->bytes || !file->ranges.count)
        return true;
    uint64_t start = file->ranges.data[0].offset;
    const struct code_range *last = &file->ranges.data[file->ranges.count - 1];
    uint64_t end = last->offset + last->size < file->size ? last->offset + last->size : file->size;
    return from < start || to > end || is_jumped_into_nearby(file, from, to) ||
           is_reached_by_near_jump(file->bytes + start, end - start, from - start, to - start);
}

void forget_inside_files(struct inside_files *files) {
    for (size_t i = 0; i < files->files.count; i++)
        unmap_file(files->files.data[i]);
    unmap_file(files->young);
    forget_parts(&files->known);
    arena_release(&files->arena);
    *files = (struct inside_files){0};
}

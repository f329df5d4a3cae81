/* record_memory.c: the memory of a process in an image; see record.h.
 *
 * Of anonymous memory only the pages are read that the process has (util/page_map.h); pages of
 * zeros are left out. A shared file is written once, by the first process that has it mapped.
 *
 * Requires: no thread of the process executes. One may be in a system call, which can write to the
 * memory meanwhile: its event will write the same again.
 *
 * Not perfect: all of a shared mapping is read, and the kernel then makes the pages that it does
 * not have yet. */
#include "replay/record.h"

#include "util/memory_map.h"
#include "util/page_map.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    PAGE = PAGE_MAP_PAGE,
    PIECE = QUIPU_RECORDING_MEMORY_MAX
};

/* ---- which memory there is ---- */

/* Whether the memory belongs to the kernel. A replay does not have it. */
static bool is_kernels(const char *path) {
    return strncmp(path, "[v", 2) == 0;
}

/* Returns the number of the shared file with that inode, or 0. Some file systems tell another
 * device in a list of mappings. */
static uint32_t find_shared_inode(const struct recorder *recorder,
                                  const struct memory_mapping *line) {
    uint32_t found = 0;
    for (size_t i = 0; i < recorder->shared.count; i++) {
        const struct shared_file *file = &recorder->shared.data[i];
        if (file->inode == line->inode && (!found || file->device == line->device))
            found = (uint32_t)i + 1;
    }
    return found;
}

/* Sets NUMBER to that of the file which LINE shares, or 0 if it is as good as private. Returns
 * false if there are too many. */
static bool find_shared(struct recorder *recorder, const struct memory_mapping *line,
                        uint32_t *number) {
    static const char anonymous[] = "/dev/zero";
    struct shared_file file = {.device = line->device, .inode = line->inode};
    *number = line->is_shared ? find_shared_inode(recorder, line) : 0;
    if (*number || !line->is_shared || strncmp(line->path, anonymous, sizeof anonymous - 1) != 0)
        return true;
    if (recorder->shared.count == QUIPU_SHARED_MAX)
        return false;
    vector_push(recorder->arena, &recorder->shared, file);
    *number = (uint32_t)recorder->shared.count;
    return true;
}

/* Takes what a line behind the first one of a mapping tells of it. */
static void take_detail(const char *line, struct memory_part *part) {
    static const char resident[] = "Rss:", swapped[] = "Swap:", flags[] = "VmFlags:";
    if (strncmp(line, resident, sizeof resident - 1) == 0)
        part->is_empty = strtoull(line + sizeof resident - 1, NULL, 10) == 0;
    else if (strncmp(line, swapped, sizeof swapped - 1) == 0)
        part->is_empty &= strtoull(line + sizeof swapped - 1, NULL, 10) == 0;
    else if (strncmp(line, flags, sizeof flags - 1) == 0)
        part->mapping.grows_down = strstr(line, " gd");
}

bool describe_memory_parts(const struct recorded_thread *thread, struct arena *arena,
                           memory_part_list *parts) {
    char name[64], *text = NULL;
    size_t room = 0;
    bool good = true, skips = false, has_ours = thread->process->inside.is_mapped;
    snprintf(name, sizeof name, "/proc/%d/smaps", (int)thread->number);
    FILE *file = fopen(name, "re");
    while (file && good && getline(&text, &room, file) > 0) {
        struct memory_mapping line;
        bool is_detail = *text >= 'A' && *text <= 'Z';
        if (is_detail && !skips && parts->count)
            take_detail(text, &parts->data[parts->count - 1]);
        if (is_detail || !read_memory_mapping(text, &line))
            continue;
        skips = is_kernels(line.path) || (has_ours && is_inside(line.start));
        if (skips)
            continue;
        struct memory_part part = {.mapping = {.start = line.start,
                                               .end = line.end,
                                               .protection = (uint8_t)line.protection},
                                   .is_anonymous = !line.inode};
        good = find_shared(thread->recorder, &line, &part.mapping.shared);
        part.mapping.place = part.mapping.shared ? line.offset : 0;
        vector_push(arena, parts, part);
    }
    free(text);
    if (file)
        fclose(file);
    return good && file && parts->count;
}

/* ---- its contents ---- */

static bool is_zero(const uint8_t *bytes, size_t size) {
    return size == 0 || (*bytes == 0 && memcmp(bytes, bytes + 1, size - 1) == 0);
}

static void add_part_bytes(struct recorder *recorder, uint32_t id,
                           const struct image_mapping *mapping, uint64_t address,
                           const uint8_t *bytes, size_t size) {
    if (!mapping->shared) {
        recording_add_memory(&recorder->writer, id, address, bytes, size, NULL);
        return;
    }
    struct buffer *event = recording_event(&recorder->writer);
    put_number(event, QUIPU_MEMORY_FILE, 1);
    buffer_uleb128(event, mapping->shared);
    buffer_uleb128(event, mapping->place + (address - mapping->start));
    buffer_add(event, bytes, size);
    recording_add(&recorder->writer, QUIPU_EVENT_MEMORY, id);
}

/* Adds the pages of BYTES, at ADDRESS, that are not zero. */
static void add_pages(struct recorder *recorder, uint32_t id, const struct image_mapping *mapping,
                      uint64_t address, const uint8_t *bytes, size_t size) {
    for (size_t done = 0, end; done < size; done = end) {
        end = done + PAGE;
        if (is_zero(bytes + done, PAGE))
            continue;
        while (end < size && !is_zero(bytes + end, PAGE))
            end += PAGE;
        add_part_bytes(recorder, id, mapping, address + done, bytes + done, end - done);
    }
}

static void add_memory_part(struct recorder *recorder, uint32_t id, const struct memory_part *part,
                            int memory, struct page_map *pages) {
    static uint8_t bytes[PIECE];
    const struct image_mapping *mapping = &part->mapping;
    for (uint64_t at = mapping->start, size; at < mapping->end; at += size) {
        bool is_there = true;
        size = mapping->end - at < PIECE ? mapping->end - at : PIECE;
        if (part->is_anonymous)
            size = page_map_alike(pages, at, at + size, &is_there) - at;
        if (!is_there)
            continue;
        ssize_t count = pread(memory, bytes, size, (off_t)at);
        if (count < PAGE) /* behind the end of its file, or of a device */
            size = PAGE;
        else
            size = (uint64_t)count / PAGE * PAGE;
        if (count >= PAGE)
            add_pages(recorder, id, mapping, at, bytes, size);
    }
}

/* Whether all of MAPPING is in one of the COUNT WRITTEN ones. */
static bool is_written(const memory_part_list *written, const struct image_mapping *mapping) {
    uint64_t size = mapping->end - mapping->start;
    for (size_t i = 0; i < written->count; i++) {
        const struct image_mapping *at = &written->data[i].mapping;
        if (at->shared == mapping->shared && at->place <= mapping->place &&
            mapping->place + size <= at->place + (at->end - at->start))
            return true;
    }
    return false;
}

bool record_memory_parts(struct recorder *recorder, pid_t process, uint32_t id,
                         const memory_part_list *parts, struct arena *arena,
                         memory_part_list *written) {
    char name[64];
    snprintf(name, sizeof name, "/proc/%d/mem", (int)process);
    int memory = open(name, O_RDONLY | O_CLOEXEC);
    struct page_map pages;
    page_map_open(&pages, process);
    for (size_t i = 0; i < parts->count && memory >= 0; i++) {
        const struct memory_part *part = &parts->data[i];
        bool is_known = part->mapping.shared && is_written(written, &part->mapping);
        if (is_known || (part->is_anonymous && part->is_empty))
            continue;
        add_memory_part(recorder, id, part, memory, &pages);
        if (part->mapping.shared)
            vector_push(arena, written, *part);
    }
    if (memory >= 0)
        close(memory);
    page_map_close(&pages);
    return memory >= 0;
}

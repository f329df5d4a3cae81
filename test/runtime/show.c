/* show.c: checks data files and prints what they hold, for the tests of the runtime.
 *
 *     file NAME pid=1 parent=2 flags=0 program=/p command=p|a|
 *     module NAME slots=64 owned=1 threads=1 cells 1 1000 0
 *     total NAME slots=64 owned=1 threads=1 cells 1 1000 0        over all files, at the end
 *
 * Exit status 1 and a cause where a file does not keep to format/data_file.h. */
#include "format/data_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum {
    MODULES_MAX = 64,
    CELLS_MAX = 16
};

struct total {
    const char *name;
    unsigned long slots, owned, threads, cell_count;
    unsigned long cells[CELLS_MAX];
};

static struct total totals[MODULES_MAX];

static void check(int condition, const char *path, const char *what) {
    if (condition)
        return;
    printf("%s: %s\n", path, what);
    exit(1);
}

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void print_total(const char *kind, const struct total *total) {
    printf("%s %s slots=%lu owned=%lu threads=%lu cells", kind, total->name, total->slots,
           total->owned, total->threads);
    for (size_t i = 0; i < total->cell_count && i < CELLS_MAX; i++)
        printf(" %lu", total->cells[i]);
    putchar('\n');
}

static void add_total(const struct total *total) {
    size_t i = 0;
    while (i < MODULES_MAX - 1 && totals[i].name && strcmp(totals[i].name, total->name) != 0)
        i++;
    totals[i].name = total->name;
    totals[i].slots += total->slots;
    totals[i].owned += total->owned;
    totals[i].threads += total->threads;
    totals[i].cell_count = total->cell_count;
    for (size_t j = 0; j < CELLS_MAX; j++)
        totals[i].cells[j] += total->cells[j];
}

static void add_blocks(struct total *total, const struct quipu_blocks *blocks, const char *path) {
    check(blocks->slot_size >= 8 * total->cell_count, path, "slots are too small");
    check(blocks->cells_offset % 64 == 0, path, "cells are not aligned");
    check(sizeof *blocks + blocks->slot_count * sizeof *blocks->slots <= blocks->cells_offset, path,
          "cells overlap the table");
    check(blocks->cells_offset + blocks->slot_count * blocks->slot_size <= blocks->chunk.size, path,
          "cells overlap the next chunk");
    total->slots += blocks->slot_count;
    for (size_t i = 0; i < blocks->slot_count; i++) {
        const uint64_t *cells =
            (const void *)((const char *)blocks + blocks->cells_offset + i * blocks->slot_size);
        total->owned += blocks->slots[i].owner != 0;
        total->threads += blocks->slots[i].threads;
        for (size_t j = 0; j < total->cell_count && j < CELLS_MAX; j++) {
            total->cells[j] += cells[j];
            check(!cells[j] || blocks->slots[i].owner, path, "a slot with counts has no owner");
        }
    }
}

static void show(const char *path) {
    struct stat status;
    int fd = open(path, O_RDONLY);
    check(fd >= 0 && fstat(fd, &status) == 0 && status.st_size >= QUIPU_PAGE, path, "cannot read");
    const char *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, fd, 0);
    check(bytes != MAP_FAILED, path, "cannot map");
    const struct quipu_file *file = (const void *)bytes;
    check(memcmp(file->magic, QUIPU_FILE_MAGIC, 8) == 0 && file->version == QUIPU_FILE_VERSION &&
              file->header_size == QUIPU_PAGE,
          path, "no header");
    check(file->size <= (uint64_t)status.st_size, path, "size is beyond the end");
    check(file->lock == 0, path, "the lock is held");
    printf("file %s pid=%u parent=%u flags=%u program=%s command=", base_name(path), file->pid,
           file->parent_pid, file->flags, file->program);
    for (const char *next = file->command; *next; next += strlen(next) + 1)
        printf("%s|", next);
    putchar('\n');
    static struct total modules[MODULES_MAX];
    memset(modules, 0, sizeof modules);
    size_t count = 0;
    uint64_t offset = QUIPU_PAGE;
    while (offset < file->size) {
        const struct quipu_chunk *chunk = (const void *)(bytes + offset);
        check(chunk->size >= QUIPU_PAGE && chunk->size % QUIPU_PAGE == 0, path, "chunk's size");
        if (chunk->kind == QUIPU_MODULE) {
            const struct quipu_module *module = (const void *)chunk;
            check(count < MODULES_MAX, path, "too many modules");
            modules[count].name = base_name(module->path);
            modules[count++].cell_count = module->cells_size / 8;
            check(module->path[0] == '/', path, "path is not absolute");
            check(module->build_id_size > 0, path, "no build id");
        } else {
            const struct quipu_blocks *blocks = (const void *)chunk;
            check(chunk->kind == QUIPU_BLOCKS && blocks->module < count, path, "chunk's kind");
            add_blocks(&modules[blocks->module], blocks, path);
        }
        offset += chunk->size;
    }
    check(offset == file->size, path, "chunks do not end at size");
    for (size_t i = 0; i < count; i++) {
        print_total("module", &modules[i]);
        add_total(&modules[i]);
    }
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        show(argv[i]);
    for (size_t i = 0; i < MODULES_MAX && totals[i].name; i++)
        print_total("total", &totals[i]);
    return argc < 2;
}

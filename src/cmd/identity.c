/* identity.c: what determines an object, apart from its source and options; see identity.h.
 *
 * A cache of compilations looks at the compiler's file, the arguments and the included files. It
 * does not see the shim, which replaces the assembler, nor the compiler that quipu cc finds, nor
 * the data of an earlier run. So quipu cc writes their identities where the cache looks.
 *
 * Not perfect: the binary of a profile, which determines where the counters are, is not
 * included. */
#include "cmd/identity.h"

#include "cmd/cmd.h"
#include "util/buffer.h"
#include "util/build_id.h"
#include "util/path.h"
#include "util/vector.h"

#include <dirent.h>
#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    BUILD_BYTES = 8 /* of the build id */
};

/* FNV-1a, of 64 bits. */
static const uint64_t hash_begin = 0xcbf29ce484222325, hash_prime = 0x100000001b3;

static uint64_t add_to_hash(uint64_t hash, const void *bytes, size_t size) {
    const uint8_t *next = bytes;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ next[i]) * hash_prime;
    return hash;
}

/* ---- quipu ---- */

/* Copies the first bytes of the build id of INFO, the executable, to DATA. */
static int read_build(struct dl_phdr_info *info, size_t size, void *data) {
    (void)size;
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        const uint8_t *notes = (const uint8_t *)(info->dlpi_addr + segment->p_vaddr);
        size_t length;
        const uint8_t *id =
            segment->p_type == PT_NOTE ? find_build_id(notes, segment->p_memsz, &length) : NULL;
        if (id && length >= BUILD_BYTES)
            memcpy(data, id, BUILD_BYTES);
    }
    return 1; /* the executable is the first object; stop here */
}

const char *own_identity(struct arena *arena) {
    uint8_t build[BUILD_BYTES] = {0};
    struct buffer text = {0};
    dl_iterate_phdr(read_build, build);
    buffer_print(&text, "%s-", QUIPU_VERSION);
    for (size_t i = 0; i < BUILD_BYTES; i++)
        buffer_print(&text, "%02x", build[i]);
    const char *identity = arena_copy(arena, text.data, text.count);
    buffer_release(&text);
    return identity;
}

/* ---- the compiler ---- */

/* Whether the file at PATH is a compilation cache, or distributes compilations. Such a program may
 * have the names of compilers. */
static bool stands_in_front(const char *path) {
    static const char *const names[] = {"ccache", "distcc", "sccache", "icecc"};
    const char *name = last_part(path);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* Returns the file to which PATH leads, or NULL if that is not a compiler. */
static const char *find_file(struct arena *arena, const char *path) {
    char *file = access(path, X_OK) == 0 ? realpath(path, NULL) : NULL;
    const char *found =
        file && !stands_in_front(file) ? arena_copy(arena, file, strlen(file)) : NULL;
    free(file);
    return found;
}

static const char *find_compiler(struct arena *arena, const char *name) {
    if (strchr(name, '/'))
        return find_file(arena, name);
    const char *rest = getenv("PATH"), *found = NULL;
    for (const char *directory; !found && (directory = next_directory(arena, &rest));)
        found = find_file(arena, arena_print(arena, "%s/%s", directory, name));
    return found;
}

const char *compiler_identity(struct arena *arena, const char *name) {
    struct stat status;
    const char *path = find_compiler(arena, name);
    if (!path || stat(path, &status) != 0)
        return arena_print(arena, "%s, which is not there", name);
    return arena_print(arena, "%s, %lld bytes of %lld.%09ld", path, (long long)status.st_size,
                       (long long)status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
}

/* ---- data ---- */

static int compare_paths(const void *left, const void *right) {
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* Sets FILES to PATH or, if that is a directory, to the files in it, sorted by name. */
static void list_files(struct arena *arena, const char *path, text_vector *files) {
    DIR *directory = opendir(path);
    if (!directory)
        vector_push(arena, files, path);
    for (const struct dirent *entry; directory && (entry = readdir(directory));)
        if (entry->d_name[0] != '.')
            vector_push(arena, files, arena_print(arena, "%s/%s", path, entry->d_name));
    if (directory)
        closedir(directory);
    if (files->count)
        qsort(files->data, files->count, sizeof *files->data, compare_paths);
}

const char *content_identity(struct arena *arena, const char *path) {
    text_vector files = {0};
    uint64_t hash = hash_begin;
    list_files(arena, path, &files);
    for (size_t i = 0; i < files.count; i++) {
        struct buffer content = {0};
        if (buffer_read_file(&content, files.data[i]))
            hash = add_to_hash(hash, content.data, content.count);
        hash = add_to_hash(hash, &content.count, sizeof content.count);
        buffer_release(&content);
    }
    return arena_print(arena, "%016llx", (unsigned long long)hash);
}

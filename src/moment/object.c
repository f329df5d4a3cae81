/* object.c: finds a moment's shared object; see object.h.
 *
 * Loaders call _dl_debug_state when the list of loaded objects has changed (SVR4's debugger
 * interface; glibc elf/dl-debug.c, musl ldso/dynlink.c). They have not executed the objects'
 * constructors then. The process's mappings show what is loaded, and build ids in its memory
 * identify the objects.
 *
 * Not perfect: a loader without that function, or without dynamic symbols, is not followed. */
#include "moment/object.h"

#include "symbols/moment_name.h"
#include "tracee/tracee.h"
#include "util/build_id.h"

#include <elf.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    HEADERS_MAX = 64,
    NOTES_MAX = 4096 /* the most bytes that are read */
};

/* ---- the loader ---- */

const char *find_loader(struct arena *arena, const struct binary *program) {
    size_t count = 0;
    GElf_Phdr header;
    if (elf_getphdrnum(program->elf, &count) != 0)
        return NULL;
    for (size_t i = 0; i < count; i++)
        if (gelf_getphdr(program->elf, (int)i, &header) && header.p_type == PT_INTERP &&
            header.p_filesz > 1 && header.p_offset < program->size &&
            header.p_filesz <= program->size - header.p_offset)
            return arena_copy(arena, (const char *)program->bytes + header.p_offset,
                              header.p_filesz - 1);
    return NULL;
}

uint64_t find_loader_hook(struct arena *arena, const struct binary *program) {
    struct binary *loader;
    uint64_t address = 0;
    const char *path = find_loader(arena, program);
    if (!path || binary_open(arena, path, &loader))
        return 0;
    for (size_t i = 0; i < loader->names.count; i++)
        if (strcmp(loader->names.data[i].name, "_dl_debug_state") == 0)
            address = loader->names.data[i].address;
    binary_close(loader);
    return address;
}

/* ---- loaded objects ---- */

/* Whether the notes contain a build id that begins with BUILD. */
static bool have_build(const uint8_t *notes, size_t size, const char *build) {
    size_t length;
    const uint8_t *id = find_build_id(notes, size, &length);
    return id && is_build_id(id, length, build);
}

/* Whether PROCESS has mapped at START, from the file's begin, an object whose build id begins with
 * BUILD. Sets BIAS. */
static bool is_object(pid_t process, uint64_t start, const char *build, uint64_t *bias) {
    Elf64_Ehdr header;
    Elf64_Phdr segments[HEADERS_MAX];
    uint8_t notes[NOTES_MAX];
    if (!read_memory(process, start, &header, sizeof header) ||
        memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_phnum > HEADERS_MAX ||
        !read_memory(process, start + header.e_phoff, segments, header.e_phnum * sizeof *segments))
        return false;
    *bias = start;
    for (int i = header.e_phnum - 1; i >= 0; i--)
        if (segments[i].p_type == PT_LOAD && segments[i].p_offset == 0)
            *bias = start - segments[i].p_vaddr;
    for (int i = 0; i < header.e_phnum; i++)
        if (segments[i].p_type == PT_NOTE && segments[i].p_memsz <= sizeof notes &&
            read_memory(process, *bias + segments[i].p_vaddr, notes, segments[i].p_memsz) &&
            have_build(notes, segments[i].p_memsz, build))
            return true;
    return false;
}

/* If LINE, from a process's list of mappings, describes the begin of a file, returns its path
 * within LINE, and START, its address. Otherwise returns NULL. */
static char *take_mapping(char *line, uint64_t *start) {
    char *end, *path = strchr(line, '/');
    *start = strtoull(line, &end, 16);
    strtoull(end + 1, &end, 16);
    bool begins = strlen(end) > 6 && strtoull(end + 6, NULL, 16) == 0; /* " r--p 00000000" */
    if (!path || !begins)
        return NULL;
    path[strcspn(path, "\n")] = '\0';
    return path;
}

const char *find_object(struct arena *arena, pid_t process, const char *build, uint64_t *bias) {
    char name[64], *line = NULL;
    const char *found = NULL;
    size_t room = 0;
    snprintf(name, sizeof name, "/proc/%d/maps", (int)process);
    FILE *file = fopen(name, "re");
    while (file && !found && getline(&line, &room, file) > 0) {
        uint64_t start;
        const char *path = take_mapping(line, &start);
        if (path && is_object(process, start, build, bias))
            found = arena_copy(arena, path, strlen(path));
    }
    free(line);
    if (file)
        fclose(file);
    return found;
}

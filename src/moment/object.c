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
#include "util/memory_map.h"

#include <elf.h>
#include <gelf.h>
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

const char *find_object(struct arena *arena, pid_t process, const char *build, uint64_t *bias) {
    struct memory_map map;
    struct memory_mapping mapping;
    const char *found = NULL;
    memory_map_open(&map, process);
    while (!found && memory_map_next(&map, &mapping))
        if (mapping.is_file && mapping.offset == 0 &&
            is_object(process, mapping.start, build, bias))
            found = arena_copy(arena, mapping.path, strlen(mapping.path));
    memory_map_close(&map);
    return found;
}

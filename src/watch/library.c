/* library.c: the program and its shared objects; see library.h.
 *
 * Not perfect: if several shared objects define a name, for example because of LD_PRELOAD, each has
 * a variable of its own here, though the program uses only the first. */
#include "watch/library.h"

#include "moment/object.h"
#include "tracee/tracee.h"
#include "util/memory_map.h"
#include "util/near.h"
#include "util/path.h"

#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void begin_libraries(struct arena *arena, const char *file, struct binary *binary, pid_t process,
                     struct libraries *libraries) {
    *libraries = (struct libraries){
        .arena = arena,
        .process = process,
        .program = {.path = file, .real = file, .binary = binary, .is_open = true},
    };
    libraries->program.wrong = read_variables(arena, binary, &libraries->program.variables);
    libraries->program.variables.takes_locals = true;
}

static const char *copy_text(struct arena *arena, const char *text) {
    return arena_copy(arena, text, strlen(text));
}

static struct library *add_library(struct libraries *libraries, const char *path) {
    char real[PATH_MAX];
    for (size_t i = 0; i < libraries->all.count; i++)
        if (strcmp(libraries->all.data[i]->path, path) == 0)
            return libraries->all.data[i];
    struct library *library = ARENA_NEW(libraries->arena, struct library);
    *library = (struct library){.path = path, .real = path};
    if (realpath(path, real))
        library->real = copy_text(libraries->arena, real);
    vector_push(libraries->arena, &libraries->all, library);
    return library;
}

const char *find_opened_path(const struct libraries *libraries, const uint8_t *build_id,
                             size_t size) {
    for (size_t i = 0; i < libraries->all.count; i++) {
        const struct binary *binary = libraries->all.data[i]->binary;
        if (binary && size && binary->build_id_size == size &&
            memcmp(binary->build_id, build_id, size) == 0)
            return libraries->all.data[i]->real;
    }
    return NULL;
}

/* ---- shared objects of a program that will be started ---- */

/* Reads "\tlibz.so.1 => /lib/libz.so.1 (0x7f...)", or a path alone. The path may be relative: the
 * loader has quipu's directory, as the program will. The kernel's own object has no directory. */
static void take_listed(struct libraries *libraries, char *line) {
    char *arrow = strstr(line, "=> "), *begin = arrow ? arrow + 3 : line;
    begin += strspn(begin, " \t");
    char *end = strstr(begin, " (0x");
    if (!end || !memchr(begin, '/', (size_t)(end - begin)))
        return;
    add_library(libraries, arena_copy(libraries->arena, begin, (size_t)(end - begin)));
}

/* Asks the loader, which loads everything and runs nothing. */
static void list_needed(struct libraries *libraries) {
    char line[PATH_MAX + 256];
    const char *loader = find_loader(libraries->arena, libraries->program.binary);
    int ends[2];
    if (!loader || pipe2(ends, O_CLOEXEC) != 0)
        return;
    pid_t child = fork();
    if (child == 0) {
        int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
        dup2(nowhere, STDIN_FILENO);
        dup2(ends[1], STDOUT_FILENO);
        dup2(nowhere, STDERR_FILENO);
        execl(loader, loader, "--list", libraries->program.path, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    FILE *list = fdopen(ends[0], "r");
    while (list && fgets(line, sizeof line, list))
        take_listed(libraries, line);
    if (list)
        fclose(list);
    if (child > 0)
        waitpid(child, NULL, 0);
}

/* ---- shared objects of a process ---- */

/* Sets MAPPING to the next one of a file, whose path is that without " (deleted)". */
static bool next_file(struct memory_map *map, struct memory_mapping *mapping, char path[PATH_MAX]) {
    static const char deleted[] = " (deleted)";
    bool found = memory_map_next(map, mapping);
    while (found && !mapping->is_file)
        found = memory_map_next(map, mapping);
    if (!found)
        return false;
    size_t length = strlen(mapping->path), tail = sizeof deleted - 1;
    if (length > tail && strcmp(mapping->path + length - tail, deleted) == 0)
        length -= tail;
    snprintf(path, PATH_MAX, "%.*s", (int)length, mapping->path);
    return true;
}

static void list_mapped(struct libraries *libraries) {
    struct memory_map map;
    struct memory_mapping mapping;
    char path[PATH_MAX];
    memory_map_open(&map, libraries->process);
    while (next_file(&map, &mapping, path))
        if (strstr(path, ".so"))
            add_library(libraries, copy_text(libraries->arena, path));
    memory_map_close(&map);
}

const char *find_mapped_path(struct arena *arena, pid_t process, uint64_t address) {
    struct memory_map map;
    struct memory_mapping mapping;
    char path[PATH_MAX];
    const char *found = NULL;
    memory_map_open(&map, process);
    while (!found && next_file(&map, &mapping, path))
        if (mapping.start <= address && address < mapping.end)
            found = copy_text(arena, path);
    memory_map_close(&map);
    return found;
}

/* Finds the ADDRESS, as linked, of the page at OFFSET of the file. */
static bool linked_at(const struct binary *binary, uint64_t offset, uint64_t *address) {
    uint64_t page = 4096;
    for (size_t i = 0; i < binary->segments.count; i++) {
        const struct segment *segment = &binary->segments.data[i];
        if ((segment->offset & -page) != offset)
            continue;
        *address = segment->address - (segment->offset - offset);
        return true;
    }
    return false;
}

bool find_bias(const struct binary *binary, pid_t process, uint64_t *bias) {
    struct memory_map map;
    struct memory_mapping mapping;
    char real[PATH_MAX], path[PATH_MAX];
    uint64_t linked;
    bool found = false;
    if (!realpath(binary->path, real))
        return false;
    memory_map_open(&map, process);
    while (!found && next_file(&map, &mapping, path)) {
        found = strcmp(path, real) == 0 && linked_at(binary, mapping.offset, &linked);
        *bias = found ? mapping.start - linked : 0;
    }
    memory_map_close(&map);
    return found;
}

/* Whether the build id of BINARY is in the memory of PROCESS, at the load address that BIAS gives.
 */
static bool has_build_id(const struct binary *binary, pid_t process, uint64_t bias) {
    static const char section[] = ".note.gnu.build-id";
    uint64_t address = binary_section_address(binary, section) + sizeof(Elf64_Nhdr) + sizeof "GNU";
    uint8_t id[64];
    return binary->build_id_size <= sizeof id &&
           read_memory(process, address + bias, id, binary->build_id_size) &&
           memcmp(id, binary->build_id, binary->build_id_size) == 0;
}

/* ---- list and open ---- */

void list_libraries(struct libraries *libraries) {
    if (libraries->is_listed)
        return;
    libraries->is_listed = true;
    if (libraries->process)
        list_mapped(libraries);
    else
        list_needed(libraries);
}

/* Checks that LIBRARY, which is open, is the file that the process has loaded. Returns NULL or an
 * error message. */
static const char *check_mapped(const struct libraries *libraries, struct library *library) {
    const struct binary *binary = library->binary;
    if (!libraries->process)
        return NULL;
    if (!find_bias(binary, libraries->process, &library->bias) ||
        !has_build_id(binary, libraries->process, library->bias))
        return "it is of another build than what the process has loaded; start the process anew";
    return NULL;
}

const char *open_library(struct libraries *libraries, struct library *library) {
    struct arena *arena = libraries->arena;
    if (library->is_open)
        return library->wrong;
    library->is_open = true;
    library->wrong = binary_open(arena, library->path, &library->binary);
    if (library->wrong) {
        library->binary = NULL;
        return library->wrong;
    }
    if (!library->binary->build_id_size)
        library->wrong = "it has no build id; link it with -Wl,--build-id";
    if (!library->wrong)
        library->wrong = check_mapped(libraries, library);
    if (!library->wrong)
        library->wrong = read_variables(arena, library->binary, &library->variables);
    library->variables.takes_locals = true;
    return library->wrong;
}

/* ---- names ---- */

/* Whether NAME means the file at PATH: it is the end of the path, with or without its version. */
static bool means(const char *path, const char *name) {
    size_t length = strlen(name);
    if (strchr(name, '/')) {
        size_t own = strlen(path);
        return own >= length && strcmp(path + own - length, name) == 0 &&
               (own == length || *name == '/' || path[own - length - 1] == '/');
    }
    const char *last = last_part(path);
    return strncmp(last, name, length) == 0 && (!last[length] || last[length] == '.');
}

/* Returns the shared object with the file NAME, which may be a symbolic link, or NULL. It may be
 * one that the program does not need, but may load. */
static struct library *find_file(struct libraries *libraries, const char *name) {
    char real[PATH_MAX];
    if (!realpath(name, real))
        return NULL;
    for (size_t i = 0; i < libraries->all.count; i++)
        if (strcmp(libraries->all.data[i]->real, real) == 0)
            return libraries->all.data[i];
    if (libraries->process)
        return NULL;
    struct library *library = add_library(libraries, copy_text(libraries->arena, real));
    library->is_late = true;
    return library;
}

struct library *find_library(struct libraries *libraries, const char *text, size_t length,
                             const char **wrong) {
    const char *name = arena_copy(libraries->arena, text, length);
    struct near_names near_names = {.wanted = last_part(name)};
    list_libraries(libraries);
    for (size_t i = 0; i < libraries->all.count; i++) {
        struct library *library = libraries->all.data[i];
        if (means(library->path, name) || means(library->real, name))
            return library;
        offer_name(&near_names, last_part(library->path));
    }
    struct library *file = find_file(libraries, name);
    if (!file)
        *wrong = arena_print(libraries->arena,
                             libraries->process
                                 ? "the process has loaded no shared object '%s'%s"
                                 : "no shared object '%s' is loaded with the program, and there is "
                                   "no such file%s",
                             name, suggest(libraries->arena, &near_names));
    return file;
}

static bool is_of_path(char c) {
    return isalnum((unsigned char)c) || (c && strchr("_./+-", c));
}

const char *find_library_name(const char *text, size_t *length) {
    for (const char *at = text; *at; at += *length ? *length : 1) {
        *length = 0;
        while (is_of_path(at[*length]))
            ++*length;
        const char *end = at + *length, *so = strstr(at, ".so");
        if (*length && so && so > at && so < end && (so + 3 == end || so[3] == '.') &&
            *end == ':' && end[1] && end[1] != ':' && !isdigit((unsigned char)end[1]))
            return at;
    }
    return NULL;
}

bool is_of_system(const struct library *library) {
    return strncmp(library->real, "/lib", 4) == 0 || strncmp(library->real, "/usr/lib", 8) == 0;
}

bool has_symbol(const struct library *library, const char *name) {
    return library->binary && binary_find_name(library->binary, name);
}

/* ---- copies of variables ---- */

/* Whether ADDRESS is in the symbol NAME of LIBRARY. OFFSET becomes its distance from the symbol. */
static bool is_in_symbol(const struct binary *library, const char *name, uint64_t address,
                         uint64_t *offset) {
    for (size_t i = 0; i < library->names.count; i++) {
        const struct symbol *symbol = &library->names.data[i];
        if (symbol->address <= address && address - symbol->address < symbol->size &&
            strcmp(symbol->name, name) == 0) {
            *offset = address - symbol->address;
            return true;
        }
    }
    return false;
}

/* Searches a table of relocations for a copy of what is at ADDRESS of LIBRARY. */
static bool find_in_table(const struct binary *program, Elf_Data *table, const GElf_Shdr *header,
                          const struct binary *library, uint64_t address, uint64_t *place) {
    Elf_Scn *link = elf_getscn(program->elf, header->sh_link);
    Elf_Data *symbols = link ? elf_getdata(link, NULL) : NULL;
    GElf_Shdr names;
    if (!symbols || !gelf_getshdr(link, &names) || !header->sh_entsize)
        return false;
    for (size_t i = 0; i < header->sh_size / header->sh_entsize; i++) {
        GElf_Rela row;
        GElf_Sym symbol;
        uint64_t offset;
        if (!gelf_getrela(table, (int)i, &row) || GELF_R_TYPE(row.r_info) != R_X86_64_COPY ||
            !gelf_getsym(symbols, (int)GELF_R_SYM(row.r_info), &symbol))
            continue;
        const char *name = elf_strptr(program->elf, names.sh_link, symbol.st_name);
        if (name && is_in_symbol(library, name, address, &offset)) {
            *place = row.r_offset + offset;
            return true;
        }
    }
    return false;
}

bool find_copy_in(const struct binary *program, const struct binary *library, uint64_t address,
                  uint64_t *place) {
    for (Elf_Scn *section = NULL; (section = elf_nextscn(program->elf, section));) {
        GElf_Shdr header;
        Elf_Data *table;
        if (gelf_getshdr(section, &header) && header.sh_type == SHT_RELA &&
            (header.sh_flags & SHF_ALLOC) && (table = elf_getdata(section, NULL)) &&
            find_in_table(program, table, &header, library, address, place))
            return true;
    }
    return false;
}

void close_libraries(struct libraries *libraries) {
    for (size_t i = 0; i < libraries->all.count; i++)
        if (libraries->all.data[i]->binary)
            binary_close(libraries->all.data[i]->binary);
}

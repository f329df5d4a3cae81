/* binary.c: an executable or shared object; see binary.h.
 *
 * The contents of sections and segments are taken from the raw bytes of the file. Each is checked
 * against the file's end. libelf parses headers, symbols and relocations. libdwfl finds separate
 * debug files (debug link, build id). If libelf cannot decompress such a file, a copy of it is read
 * instead.
 *
 * Not perfect: in a file without section headers (sstrip) the notes cannot be found. */
#include "symbols/binary.h"

#include "format/cells.h"
#include "format/data_file.h"
#include "format/watch.h"
#include "symbols/layout.h"
#include "symbols/line_table.h"
#include "symbols/scopes.h"
#include "symbols/sites.h"
#include "symbols/whole_debug.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- sections and segments ---- */

/* Finds section NAME. Returns NULL if there is none. */
static Elf_Scn *find_section(const struct binary *binary, const char *name, GElf_Shdr *header) {
    size_t names;
    if (elf_getshdrstrndx(binary->elf, &names) != 0)
        return NULL;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(binary->elf, section));) {
        if (!gelf_getshdr(section, header))
            continue;
        const char *found = elf_strptr(binary->elf, names, header->sh_name);
        if (found && strcmp(found, name) == 0)
            return section;
    }
    return NULL;
}

const uint8_t *binary_section(const struct binary *binary, const char *name, size_t *size) {
    GElf_Shdr header;
    *size = 0;
    if (!find_section(binary, name, &header) || header.sh_type == SHT_NOBITS || !header.sh_size)
        return NULL;
    *size = header.sh_size;
    if (header.sh_offset > binary->size || header.sh_size > binary->size - header.sh_offset)
        return NULL;
    return binary->bytes + header.sh_offset;
}

uint64_t binary_section_address(const struct binary *binary, const char *name) {
    GElf_Shdr header;
    return find_section(binary, name, &header) ? header.sh_addr : 0;
}

static void read_segments(struct arena *arena, struct binary *binary) {
    size_t count = 0;
    if (elf_getphdrnum(binary->elf, &count) != 0)
        return;
    for (size_t i = 0; i < count && i < 0xffff; i++) {
        GElf_Phdr header;
        if (!gelf_getphdr(binary->elf, (int)i, &header) || header.p_type != PT_LOAD ||
            header.p_offset > binary->size)
            continue;
        uint64_t size = header.p_filesz, room = binary->size - header.p_offset;
        struct segment segment = {.address = header.p_vaddr,
                                  .size = size < room ? size : room,
                                  .offset = header.p_offset,
                                  .executable = header.p_flags & PF_X};
        vector_push(arena, &binary->segments, segment);
    }
}

const struct segment *binary_segment(const struct binary *binary, uint64_t address) {
    for (size_t i = 0; i < binary->segments.count; i++) {
        const struct segment *segment = &binary->segments.data[i];
        if (address >= segment->address && address - segment->address < segment->size)
            return segment;
    }
    return NULL;
}

const uint8_t *binary_code(const struct binary *binary, uint64_t address, size_t *count) {
    const struct segment *segment = binary_segment(binary, address);
    *count = 0;
    if (!segment || !segment->executable)
        return NULL;
    uint64_t distance = address - segment->address;
    *count = segment->size - distance;
    return binary->bytes + segment->offset + distance;
}

/* ---- symbols ---- */

/* Whether a reader of a disassembly wants to see this name. */
static bool is_wanted(const GElf_Sym *symbol, GElf_Word section, const char *name) {
    int type = GELF_ST_TYPE(symbol->st_info);
    return name && *name && section != SHN_UNDEF && section != SHN_ABS &&
           (type == STT_NOTYPE || type == STT_OBJECT || type == STT_FUNC || type == STT_GNU_IFUNC);
}

static int compare_symbols(const void *left, const void *right) {
    const struct symbol *a = left, *b = right;
    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    if (a->size != b->size) /* the one that covers more is first */
        return a->size > b->size ? -1 : 1;
    return strcmp(a->name, b->name);
}

static void sort_symbols(struct symbol *symbols, size_t *count) {
    size_t kept = 0;
    if (*count)
        qsort(symbols, *count, sizeof *symbols, compare_symbols);
    for (size_t i = 0; i < *count; i++)
        if (!kept || symbols[kept - 1].address != symbols[i].address)
            symbols[kept++] = symbols[i];
    *count = kept;
}

/* Symbols have numbers: 1 + the index, or 0 for none. Returns the innermost of symbol NUMBER, which
 * is not behind ADDRESS, and of those that enclose it whose size covers ADDRESS. */
static uint32_t find_covering(const struct binary *binary, uint32_t number, uint64_t address) {
    const struct symbol *symbols = binary->symbols.data;
    while (number && address - symbols[number - 1].address >= symbols[number - 1].size)
        number = binary->enclosing[number - 1];
    return number;
}

/* Sorts the symbols, and finds for each which one encloses it: inline assembly defines labels in
 * the middle of functions. */
static void index_symbols(struct arena *arena, struct binary *binary) {
    sort_symbols(binary->symbols.data, &binary->symbols.count);
    binary->enclosing = ARENA_ARRAY(arena, uint32_t, binary->symbols.count);
    for (uint32_t i = 1; i < binary->symbols.count; i++)
        binary->enclosing[i] = find_covering(binary, i, binary->symbols.data[i].address);
}

static void read_symbols(struct arena *arena, struct binary *binary, Dwfl_Module *module) {
    int count = dwfl_module_getsymtab(module);
    for (int i = 1; i < count; i++) {
        GElf_Sym symbol;
        GElf_Word section;
        const char *name = dwfl_module_getsym(module, i, &symbol, &section);
        if (is_wanted(&symbol, section, name))
            vector_push(arena, &binary->names,
                        ((struct symbol){symbol.st_value, symbol.st_size,
                                         arena_copy(arena, name, strlen(name))}));
    }
    for (size_t i = 0; i < binary->names.count; i++)
        vector_push(arena, &binary->symbols, binary->names.data[i]);
    index_symbols(arena, binary);
}

/* Reads the names that the loader binds, by the address of the slot that it writes. So a jump
 * through the slot gets a name. */
static void read_imports(struct arena *arena, struct binary *binary) {
    for (Elf_Scn *section = NULL; (section = elf_nextscn(binary->elf, section));) {
        GElf_Shdr header, symbols_header;
        if (!gelf_getshdr(section, &header) || header.sh_type != SHT_RELA)
            continue;
        Elf_Scn *symbols_section = elf_getscn(binary->elf, header.sh_link);
        Elf_Data *data = elf_getdata(section, NULL);
        Elf_Data *symbols = symbols_section ? elf_getdata(symbols_section, NULL) : NULL;
        if (!data || !symbols || !gelf_getshdr(symbols_section, &symbols_header))
            continue;
        GElf_Rela relocation;
        for (int i = 0; gelf_getrela(data, i, &relocation); i++) {
            uint64_t type = GELF_R_TYPE(relocation.r_info);
            GElf_Sym symbol;
            if ((type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) ||
                !gelf_getsym(symbols, (int)GELF_R_SYM(relocation.r_info), &symbol))
                continue;
            const char *name = elf_strptr(binary->elf, symbols_header.sh_link, symbol.st_name);
            if (name && *name)
                vector_push(arena, &binary->imports,
                            ((struct symbol){relocation.r_offset, 8, name}));
        }
    }
    sort_symbols(binary->imports.data, &binary->imports.count);
}

/* Returns the last symbol at or below ADDRESS, or NULL. */
static const struct symbol *find_symbol(const struct symbol *symbols, size_t count,
                                        uint64_t address) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (symbols[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? &symbols[low - 1] : NULL;
}

const char *binary_import(const struct binary *binary, uint64_t slot) {
    const struct symbol *import = find_symbol(binary->imports.data, binary->imports.count, slot);
    return import && import->address == slot ? import->name : NULL;
}

/* Returns the name of the entry of the procedure linkage table at ADDRESS, or NULL. The entry is
 * `jmp *slot(%rip)`, perhaps behind endbr64 and bnd. */
static const char *find_import(const struct binary *binary, uint64_t address) {
    static const uint8_t landing[] = {0xf3, 0x0f, 0x1e, 0xfa};
    size_t count;
    const uint8_t *code = binary_code(binary, address, &count);
    if (!code || count < 16)
        return NULL;
    size_t at = memcmp(code, landing, sizeof landing) == 0 ? sizeof landing : 0;
    at += code[at] == 0xf2;
    if (code[at] != 0xff || code[at + 1] != 0x25)
        return NULL;
    int32_t distance;
    memcpy(&distance, code + at + 2, sizeof distance);
    return binary_import(binary, address + at + 6 + (uint64_t)(int64_t)distance);
}

void binary_add_symbols(struct arena *arena, struct binary *binary, const struct symbol *symbols,
                        size_t count) {
    VECTOR(struct symbol) added = {0}; /* separate, because the search needs the sorted table */
    for (size_t i = 0; i < count; i++) {
        const struct symbol *known =
            find_symbol(binary->symbols.data, binary->symbols.count, symbols[i].address);
        if (!known || known->address != symbols[i].address)
            vector_push(arena, &added, symbols[i]);
    }
    for (size_t i = 0; i < added.count; i++)
        vector_push(arena, &binary->symbols, added.data[i]);
    index_symbols(arena, binary);
}

const struct symbol *binary_find_name(const struct binary *binary, const char *name) {
    for (size_t i = 0; i < binary->names.count; i++)
        if (strcmp(binary->names.data[i].name, name) == 0)
            return &binary->names.data[i];
    return NULL;
}

const char *binary_symbol(const struct binary *binary, uint64_t address) {
    const struct symbol *symbol = find_symbol(binary->symbols.data, binary->symbols.count, address);
    return symbol && symbol->address == address ? symbol->name : NULL;
}

/* Returns the innermost symbol whose size covers ADDRESS, or NULL. *LAST: the last one at or below
 * it, or NULL. */
static const struct symbol *find_around(const struct binary *binary, uint64_t address,
                                        const struct symbol **last) {
    const struct symbol *symbols = binary->symbols.data;
    *last = find_symbol(symbols, binary->symbols.count, address);
    uint32_t number = *last ? find_covering(binary, (uint32_t)(*last - symbols) + 1, address) : 0;
    return number ? &symbols[number - 1] : NULL;
}

const struct symbol *binary_function(const struct binary *binary, uint64_t address) {
    const struct symbol *last, *symbol = find_around(binary, address, &last);
    if (!symbol && last && !last->size)
        symbol = last;
    bool is_near =
        symbol && binary_segment(binary, symbol->address) == binary_segment(binary, address);
    return is_near ? symbol : NULL;
}

bool binary_name(const struct binary *binary, uint64_t address, char *text, size_t size) {
    const struct symbol *last, *around = find_around(binary, address, &last);
    if (last && last->address == address) {
        snprintf(text, size, "%s", last->name);
        return true;
    }
    if (around) {
        snprintf(text, size, "%s+0x%" PRIx64, around->name, address - around->address);
        return true;
    }
    const char *import = find_import(binary, address);
    if (import)
        snprintf(text, size, "%s@plt", import);
    return import;
}

/* ---- opening ---- */

static const char *check_kind(struct arena *arena, struct binary *binary) {
    GElf_Ehdr header;
    if (elf_kind(binary->elf) != ELF_K_ELF || !gelf_getehdr(binary->elf, &header))
        return "it is no ELF file";
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != EM_X86_64)
        return "it is not for x86-64";
    if (header.e_type == ET_REL)
        return "it is an object file that is not linked yet; name the program";
    if (header.e_type != ET_EXEC && header.e_type != ET_DYN)
        return "it is neither a program nor a shared object";
    size_t sections;
    if (elf_getshdrnum(binary->elf, &sections) != 0 || sections == 0)
        return "it has no section headers; quipu finds its notes by them";
    char *bytes = elf_rawfile(binary->elf, &binary->size);
    if (!bytes)
        return arena_print(arena, "it cannot be read: %s", elf_errmsg(-1));
    binary->bytes = (const uint8_t *)bytes;
    return NULL;
}

/* The copy to read instead of the separate debug file; -1: none. */
struct replacement {
    int copy;
};

/* Finds the separate debug file for libdwfl. libdwfl's own function has opened the file already
 * when it returns it. So only the next Dwfl can read a copy instead. */
static int find_debug_file(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
                           const char *file, const char *link, GElf_Word checksum, char **found) {
    struct replacement *replacement = *data;
    if (replacement->copy >= 0)
        return fcntl(replacement->copy, F_DUPFD_CLOEXEC, 0);
    int fd = dwfl_standard_find_debuginfo(module, data, name, base, file, link, checksum, found);
    if (fd >= 0)
        replacement->copy = whole_debug(fd, *found ? *found : file);
    return fd;
}

static Dwfl_Module *begin_debug(struct binary *binary, struct replacement *replacement) {
    static const Dwfl_Callbacks callbacks = {
        .find_elf = dwfl_build_id_find_elf,
        .find_debuginfo = find_debug_file,
        .section_address = dwfl_offline_section_address,
    };
    binary->dwfl = dwfl_begin(&callbacks);
    if (!binary->dwfl)
        return NULL;
    dwfl_report_begin(binary->dwfl);
    /* libdwfl would open it for the programs that quipu starts, too */
    int fd = open(binary->path, O_RDONLY | O_CLOEXEC);
    int copy = whole_debug(fd, binary->path);
    if (copy >= 0) {
        close(fd);
        fd = copy;
    }
    Dwfl_Module *module = dwfl_report_elf(binary->dwfl, binary->path, binary->path, fd, 0, true);
    if (!module && fd >= 0)
        close(fd);
    dwfl_report_end(binary->dwfl, NULL, NULL);
    void **data;
    if (!module || !dwfl_module_info(module, &data, NULL, NULL, NULL, NULL, NULL, NULL))
        return NULL;
    *data = replacement;
    Dwarf_Addr bias = 0;
    binary->dwarf = dwfl_module_getdwarf(module, &bias);
    return module;
}

/* Reads symbols and debug information. A binary without them is valid, too. */
static void open_debug(struct arena *arena, struct binary *binary) {
    struct replacement replacement = {.copy = -1};
    Dwfl_Module *module = begin_debug(binary, &replacement);
    if (replacement.copy >= 0) {
        dwfl_end(binary->dwfl);
        module = begin_debug(binary, &replacement);
        close(replacement.copy);
    }
    if (module)
        read_symbols(arena, binary, module);
}

static const char *open_elf(struct arena *arena, struct binary *binary) {
    elf_version(EV_CURRENT);
    struct stat status;
    /* a pipe must be refused, without a wait */
    binary->fd = open(binary->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (binary->fd < 0 || fstat(binary->fd, &status) != 0)
        return strerror(errno);
    if (!S_ISREG(status.st_mode))
        return "it is no regular file";
    if (status.st_size == 0)
        return "it is empty";
    binary->elf = elf_begin(binary->fd, ELF_C_READ_MMAP, NULL);
    if (!binary->elf)
        return arena_print(arena, "it cannot be read: %s", elf_errmsg(-1));
    return check_kind(arena, binary);
}

const uint8_t *binary_note(const struct binary *binary, uint32_t type, size_t size,
                           uint64_t *address) {
    GElf_Shdr header;
    Elf_Scn *section = find_section(binary, QUIPU_NOTES_SECTION, &header);
    Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
    size_t at = 0, next, name, description;
    GElf_Nhdr note;
    for (; data && (next = gelf_getnote(data, at, &note, &name, &description)) > 0; at = next) {
        const uint8_t *bytes = data->d_buf;
        if (note.n_type == type && note.n_descsz == size && note.n_namesz == sizeof "quipu" &&
            memcmp(bytes + name, "quipu", sizeof "quipu") == 0) {
            *address = header.sh_addr + description;
            return bytes + description;
        }
    }
    return NULL;
}

uint64_t relative_address(const uint8_t *distances, uint64_t address, size_t number) {
    int32_t distance;
    memcpy(&distance, distances + number * sizeof distance, sizeof distance);
    return address + number * sizeof distance + (uint64_t)(int64_t)distance;
}

/* Reads the address of the module's cells from the runtime's note. */
static void read_cells(struct binary *binary) {
    uint64_t address;
    const uint8_t *note = binary_note(binary, QUIPU_PLACE_NOTE, 2 * sizeof(int32_t), &address);
    if (!note)
        return;
    binary->cells_address = relative_address(note, address, 0);
    uint64_t end = relative_address(note, address, 1);
    binary->cells_size = end > binary->cells_address ? end - binary->cells_address : 0;
}

const char *binary_open(struct arena *arena, const char *path, struct binary **result) {
    struct binary *binary = ARENA_NEW(arena, struct binary);
    *result = NULL;
    binary->path = arena_copy(arena, path, strlen(path));
    binary->lines = ARENA_NEW(arena, struct line_table);
    binary->scopes = make_scope_index(arena);
    binary->fd = -1;
    const char *cause = open_elf(arena, binary);
    if (cause) {
        binary_close(binary);
        return cause;
    }
    const void *build_id;
    ssize_t size = dwelf_elf_gnu_build_id(binary->elf, &build_id);
    if (size > 0) { /* the runtime also cuts it at that length */
        binary->build_id = build_id;
        binary->build_id_size = size < QUIPU_BUILD_ID_MAX ? (uint32_t)size : QUIPU_BUILD_ID_MAX;
    }
    read_cells(binary);
    cause = check_layout(arena, binary);
    if (cause) {
        binary_close(binary);
        return cause;
    }
    read_segments(arena, binary);
    read_imports(arena, binary);
    open_debug(arena, binary);
    *result = binary;
    return NULL;
}

const char *check_linked(struct arena *arena, const char *path, bool *watched) {
    struct binary binary = {.path = path, .fd = -1};
    const char *cause = NULL;
    if (!open_elf(arena, &binary)) {
        read_cells(&binary);
        cause = check_versions(arena, &binary);
        if (!cause)
            cause = check_layout(arena, &binary);
        *watched = has_watch_sites(&binary);
    }
    binary_close(&binary);
    return cause;
}

void binary_close(struct binary *binary) {
    if (!binary)
        return;
    if (binary->lines)
        line_table_release(binary->lines);
    if (binary->dwfl)
        dwfl_end(binary->dwfl);
    if (binary->elf)
        elf_end(binary->elf);
    if (binary->fd >= 0)
        close(binary->fd);
    binary->dwfl = NULL;
    binary->dwarf = NULL;
    binary->elf = NULL;
    binary->fd = -1;
}

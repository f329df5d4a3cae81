/* static_objects.c: variables by address; see static_objects.h.
 *
 * The symbol table tells addresses and sizes. Debug information tells how the source names them:
 * the symbol of a static variable in a function is "count.0", its path is "calls::count".
 *
 * Not perfect: what has no symbol, such as a string, is a part of its section. */
#include "symbols/static_objects.h"

#include "symbols/demangle.h"
#include "symbols/variable_path.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *left, const void *right) {
    const struct static_object *a = left, *b = right;
    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    if (a->size != b->size) /* the one that covers more is first */
        return a->size > b->size ? -1 : 1;
    return strcmp(a->name, b->name);
}

/* Sorts the objects. Keeps those that do not begin within another one. */
static void sort_objects(object_list *list) {
    size_t kept = 0;
    if (list->count)
        qsort(list->data, list->count, sizeof *list->data, compare);
    for (size_t i = 0; i < list->count; i++) {
        const struct static_object *last = kept ? &list->data[kept - 1] : NULL;
        if (!last || list->data[i].address - last->address >= last->size)
            list->data[kept++] = list->data[i];
    }
    list->count = kept;
}

const struct static_object *object_around(const object_list *list, uint64_t address) {
    size_t first = 0, last = list->count; /* the one behind the last that begins at or below */
    while (first < last) {
        size_t middle = first + (last - first) / 2;
        if (list->data[middle].address <= address)
            first = middle + 1;
        else
            last = middle;
    }
    const struct static_object *found = first ? &list->data[first - 1] : NULL;
    return found && address - found->address < found->size ? found : NULL;
}

const struct static_object *find_static_object(const struct static_objects *objects,
                                               uint64_t address) {
    const struct static_object *found = object_around(&objects->variables, address);
    return found ? found : object_around(&objects->sections, address);
}

/* ---- symbols ---- */

/* Returns the name of the symbol NAME without its version, "stdout" for "stdout@GLIBC_2.2.5", as
 * the source has it. */
static const char *source_name(struct arena *arena, const char *name) {
    size_t length = strcspn(name, "@");
    return demangle(arena, arena_copy(arena, name, length ? length : strlen(name)));
}

static void add_symbol(struct arena *arena, struct static_objects *objects, const GElf_Sym *symbol,
                       const char *name) {
    int type = GELF_ST_TYPE(symbol->st_info);
    if (!name || !*name || !symbol->st_size || symbol->st_shndx == SHN_UNDEF ||
        symbol->st_value + symbol->st_size < symbol->st_value ||
        (type != STT_OBJECT && type != STT_TLS))
        return;
    struct static_object object = {
        .address = symbol->st_value, .size = symbol->st_size, .name = source_name(arena, name)};
    if (type == STT_TLS)
        vector_push(arena, &objects->thread_locals, object);
    else
        vector_push(arena, &objects->variables, object);
}

static void add_table(struct arena *arena, struct static_objects *objects,
                      const struct binary *binary, Elf_Scn *section, const GElf_Shdr *header) {
    Elf_Data *data = elf_getdata(section, NULL);
    GElf_Sym symbol;
    for (int i = 1; data && gelf_getsym(data, i, &symbol); i++)
        add_symbol(arena, objects, &symbol,
                   elf_strptr(binary->elf, header->sh_link, symbol.st_name));
}

/* Adds the section if it is loaded. Thread-local ones are only templates. */
static void add_section(struct arena *arena, struct static_objects *objects,
                        const struct binary *binary, const GElf_Shdr *header) {
    size_t names;
    if (!(header->sh_flags & SHF_ALLOC) || header->sh_flags & SHF_TLS || !header->sh_size ||
        header->sh_addr + header->sh_size < header->sh_addr ||
        elf_getshdrstrndx(binary->elf, &names) != 0)
        return;
    const char *name = elf_strptr(binary->elf, names, header->sh_name);
    struct static_object object = {.address = header->sh_addr,
                                   .size = header->sh_size,
                                   .name = name ? name : "",
                                   .is_section = true};
    vector_push(arena, &objects->sections, object);
}

static void find_thread_local_end(struct static_objects *objects, const struct binary *binary) {
    GElf_Phdr segment;
    bool has_loader = false, is_fixed = false;
    GElf_Ehdr header;
    size_t count;
    uint64_t end = 0;
    if (!gelf_getehdr(binary->elf, &header) || elf_getphdrnum(binary->elf, &count) != 0)
        return;
    is_fixed = header.e_type == ET_EXEC;
    for (int i = 0; i < (int)count && gelf_getphdr(binary->elf, i, &segment); i++) {
        has_loader |= segment.p_type == PT_INTERP;
        uint64_t align = segment.p_align ? segment.p_align : 1;
        if (segment.p_type == PT_TLS && segment.p_memsz <= UINT64_MAX - align)
            end = (segment.p_memsz + align - 1) / align * align;
    }
    objects->thread_local_end = has_loader || is_fixed ? end : 0;
}

/* ---- names of the source ---- */

static struct static_object *object_at(object_list *list, uint64_t address) {
    const struct static_object *found = object_around(list, address);
    return found && found->address == address ? &list->data[found - list->data] : NULL;
}

/* Objects that only debug information knows, as of a program without local symbols, are added to
 * ADDED. */
static void take_variable(struct arena *arena, struct static_objects *objects,
                          const struct variable *variable, object_list *added) {
    bool has_place = !variable->cause && !variable->is_constant && !variable->is_local;
    if (!has_place)
        return;
    object_list *list = variable->is_thread_local ? &objects->thread_locals : &objects->variables;
    uint64_t address = variable->is_thread_local ? (uint64_t)variable->base : variable->address;
    struct static_object *known = object_at(list, address);
    const char *path = variable_path(arena, variable, true);
    if (known) {
        known->name = path;
        known->file = variable->file;
    } else if (!variable->is_thread_local && variable->type.size && address &&
               !object_around(list, address)) {
        vector_push(arena, added,
                    ((struct static_object){.address = address,
                                            .size = variable->type.size,
                                            .name = path,
                                            .file = variable->file}));
    }
}

void read_static_objects(struct arena *arena, const struct binary *binary,
                         struct static_objects *objects) {
    struct variables variables;
    object_list added = {0};
    *objects = (struct static_objects){0};
    for (Elf_Scn *section = NULL; (section = elf_nextscn(binary->elf, section));) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header))
            continue;
        add_section(arena, objects, binary, &header);
        if (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM)
            add_table(arena, objects, binary, section, &header);
    }
    sort_objects(&objects->variables);
    sort_objects(&objects->thread_locals);
    sort_objects(&objects->sections);
    find_thread_local_end(objects, binary);
    if (read_variables(arena, binary, &variables))
        return;
    for (size_t i = 0; i < variables.all.count; i++)
        take_variable(arena, objects, &variables.all.data[i], &added);
    for (size_t i = 0; i < added.count; i++)
        vector_push(arena, &objects->variables, added.data[i]);
    sort_objects(&objects->variables);
}

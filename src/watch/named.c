/* named.c: finds the objects that the user names; see request.h.
 *
 * A name is looked up in the program first, then in its shared objects. The address of a static
 * object is known then; so is the offset of a local in its frame, and of a thread-local variable
 * from the thread pointer. */
#include "symbols/scopes.h"
#include "symbols/sites.h"
#include "util/near.h"
#include "util/path.h"
#include "watch/heap.h"
#include "watch/request.h"

#include <ctype.h>
#include <dwarf.h>
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

enum {
    ADDRESS_BITS = QUIPU_WATCH_ADDRESS_BITS
};

/* ---- names ---- */

/* Reads ADDRESS:LENGTH. Returns false if TEXT has another form; otherwise WRONG becomes NULL or an
 * error message. */
static bool read_range(struct arena *arena, const char *text, struct watched *watched,
                       const char **wrong, size_t *where) {
    char *end;
    *wrong = NULL;
    if (!isdigit((unsigned char)*text))
        return false;
    errno = 0;
    watched->address = strtoull(text, &end, 0);
    if (errno || *end != ':')
        return false;
    *where = (size_t)(end + 1 - text);
    watched->size = isdigit((unsigned char)end[1]) ? strtoull(end + 1, &end, 0) : 0;
    if (errno || *end || !watched->size || watched->address + watched->size < watched->address) {
        *wrong = "behind the address there must be how many bytes, from 1";
        return true;
    }
    if (watched->address + watched->size > (uint64_t)1 << ADDRESS_BITS) {
        *where = 0;
        *wrong = "no program has memory at that address";
        return true;
    }
    watched->base = text;
    watched->whole = (struct part){.shape = byte_shape(arena), .count = watched->size};
    watched->value_size = 1;
    return true;
}

/* ---- locals ---- */

/* Whether the function at ADDRESS, as linked, reports its calls to the runtime. */
static bool tells_of_calls(const struct binary *binary, uint64_t address) {
    struct site_table table = find_sites(binary);
    for (size_t i = 0; i < table.count; i++) {
        struct linked_site site = read_site(&table, i);
        if (site.size == QUIPU_SITE_BEGIN && site.target == address)
            return true;
    }
    return false;
}

/* Whether a local is read to find the object. It has no address before its function is called. */
static bool goes_by_local(const struct variables *variables, const struct object *object) {
    int64_t offset;
    for (size_t i = 0; i < object->path.objects.count; i++) {
        const struct node *node = object->path.objects.data[i];
        while (node && node->kind != NODE_OBJECT)
            node = node->a;
        if (node && find_local(variables, node->number, &offset))
            return true;
    }
    return false;
}

static int count_instance(Dwarf_Die *instance, void *count) {
    (void)instance;
    (*(unsigned *)count)++;
    return DWARF_CB_OK;
}

/* Finds the function in whose source the local ORIGIN, an entry of debug information, is declared.
 */
static bool find_written(const struct binary *binary, Dwarf_Off origin, Dwarf_Die *function) {
    Dwarf_Die die, scopes[SCOPES_MAX];
    bool found = false;
    int count =
        dwarf_offdie(binary->dwarf, origin, &die) ? scopes_around(binary->scopes, &die, scopes) : 0;
    for (int i = 0; i < count && !found; i++) {
        *function = scopes[i];
        found = dwarf_tag(function) == DW_TAG_subprogram;
    }
    return found;
}

unsigned count_unwatched(const struct watched *watched) {
    Dwarf_Die function;
    unsigned inlined = 0, known = 0;
    if (!watched->local ||
        !find_written(watched->library->binary, watched->local->origin, &function))
        return 0;
    dwarf_func_inline_instances(&function, count_instance, &inlined);
    const struct variables *variables = &watched->library->variables;
    for (size_t i = 0; i < variables->all.count; i++) {
        const struct variable *variable = &variables->all.data[i];
        known +=
            variable->is_inlined && !variable->cause && variable->origin == watched->local->origin;
    }
    return inlined > known ? inlined - known : 0;
}

static const char untold[] =
    "its function does not tell of its calls: build its file with 'quipu cc "
    "--quipu=watch'";

/* Sets the functions whose frames contain the local, and where: it is at OFFSET from the CFA in the
 * first of them. Returns NULL or an error message. */
static const char *take_places(struct arena *arena, const struct library *library, int64_t offset,
                               struct watched *watched) {
    const struct variables *variables = &library->variables;
    for (size_t i = 0; i < variables->all.count; i++) {
        const struct variable *variable = &variables->all.data[i];
        struct local_place place = {variable->entry,
                                    variable->base + (offset - watched->local->base)};
        bool known = false;
        if (!variable->is_local || variable->cause || variable->origin != watched->local->origin)
            continue;
        if (!tells_of_calls(library->binary, place.function))
            return untold;
        for (size_t k = 0; k < watched->places.count; k++)
            known |= watched->places.data[k].function == place.function &&
                     watched->places.data[k].offset == place.offset;
        if (!known)
            vector_push(arena, &watched->places, place);
    }
    return NULL;
}

/* Computes the OFFSET from the thread pointer of the program's thread-local variable that is BASE
 * bytes from the first one. The segment lies directly before the thread pointer, rounded up to its
 * alignment. */
static bool offset_in_thread(const struct binary *binary, int64_t base, int64_t *offset) {
    size_t count = 0;
    GElf_Phdr header;
    if (elf_getphdrnum(binary->elf, &count) != 0)
        return false;
    for (size_t i = 0; i < count; i++)
        if (gelf_getphdr(binary->elf, (int)i, &header) && header.p_type == PT_TLS) {
            uint64_t alignment = header.p_align ? header.p_align : 1;
            uint64_t size = (header.p_memsz + alignment - 1) & -alignment;
            if ((uint64_t)base >= header.p_vaddr) /* gcc -gsplit-dwarf has the address instead */
                base -= (int64_t)header.p_vaddr;
            *offset = base - (int64_t)size;
            return true;
        }
    return false;
}

/* Sets the number of elements of a slice, its first index and the text around it. */
static void take_slice(struct arena *arena, struct watched *watched) {
    const struct object *object = &watched->object;
    watched->whole.count = object->count;
    watched->first = (uint64_t)object->first;
    watched->whole.others = object->others;
    watched->base = arena_copy(arena, object->text + object->base, object->base_end - object->base);
}

static uint64_t value_size(const struct shape *shape) {
    while (shape->kind == TYPE_ARRAY)
        shape = shape->element;
    return shape->size;
}

/* Whether the address of NODE depends on the load address of a binary. */
static bool is_linked(const struct node *node) {
    return node && (node->kind == NODE_OBJECT || is_linked(node->a) || is_linked(node->b) ||
                    is_linked(node->c));
}

/* Sets the address of the object, if it is known before the program runs. Returns NULL or an error
 * message. */
static const char *take_address(struct libraries *libraries, struct watched *watched) {
    const struct library *library = watched->library;
    const struct binary *program = libraries->program.binary;
    const struct node *node = watched->object.node;
    int64_t offset;
    if (goes_by_local(&library->variables, &watched->object))
        return "where a local or thread-local variable points to, or an element whose index one "
               "tells, cannot be watched";
    watched->binary = is_linked(node) ? library->binary : NULL;
    struct image_memory nothing = image_memory(NULL, 0, 0, NULL);
    if (watched->object.path.objects.count ||
        !object_address(node, &nothing.memory, &watched->address))
        return NULL;
    const struct variable *local = find_local(&library->variables, watched->address, &offset);
    if (local && local->is_local) {
        watched->local = local;
        return take_places(libraries->arena, library, offset, watched);
    }
    if (local && library->binary != program)
        return "it is thread-local in a shared object; such variables are watched in the program "
               "itself only";
    watched->is_thread_local = local != NULL;
    if (local && !offset_in_thread(program, offset, &watched->offset))
        return "it is thread-local, but the program has no thread-local memory";
    if (!local && watched->binary && watched->binary != program &&
        find_copy_in(program, library->binary, watched->address, &watched->address))
        watched->binary = program;
    return NULL;
}

/* Reads TEXT, whose names are those of LIBRARY. Returns NULL or an error message. */
static const char *read_object(struct libraries *libraries, const struct library *library,
                               const char *text, struct watched *watched, size_t *where) {
    struct arena *arena = libraries->arena;
    *watched = (struct watched){.text = text, .base = text, .library = library};
    const char *wrong = parse_object(arena, &library->variables, text, &watched->object, where);
    if (wrong)
        return wrong;
    const struct node *node = watched->object.node;
    struct part *whole = &watched->whole;
    *whole = (struct part){.shape = make_shape(arena, library->binary, &node->type),
                           .bit = node->bit,
                           .bits = node->bits};
    bool is_void = node->type.kind == TYPE_NONE && !node->type.is_spelled && node->type.size == 1;
    if (is_void && watched->object.count)
        whole->shape = byte_shape(arena);
    uint64_t size = node->bits ? (node->bit + node->bits + 7) / 8 : whole->shape->size;
    if (!size || (is_void && !watched->object.count))
        return "it has no type, so its length is not known; build it with -g, or give "
               "ADDRESS:LENGTH, or a slice [FIRST..LAST]";
    watched->value_size = value_size(whole->shape);
    if (watched->object.count)
        take_slice(arena, watched);
    watched->size = size * (whole->count ? whole->count : 1);
    return take_address(libraries, watched);
}

/* The result of a search through all shared objects. */
struct elsewhere {
    const struct library *found; /* NULL: none */
    const char *refused;         /* message of the first that has the name; NULL: none has it */
    size_t where;
    const char *hint; /* message with a similar name; NULL: none has one */
};

static void look_in(struct libraries *libraries, const struct library *library, const char *text,
                    struct watched *watched, struct elsewhere *elsewhere, const char **wrong) {
    struct arena *arena = libraries->arena;
    struct watched other;
    size_t where = 0;
    const char *name = last_part(library->path);
    const char *refused = read_object(libraries, library, text, &other, &where);
    if (!refused && elsewhere->found) {
        *wrong =
            arena_print(arena, "that is in '%s' and in '%s'; write one of them and ':' in front",
                        last_part(elsewhere->found->path), name);
    } else if (!refused) {
        elsewhere->found = library;
        *watched = other;
        *wrong = NULL;
    } else if (!other.object.is_missing && !other.object.is_local && !elsewhere->refused) {
        elsewhere->refused = arena_print(arena, "in '%s': %s", name, refused);
        elsewhere->where = where;
    } else if (other.object.is_missing && !elsewhere->hint && !is_of_system(library) &&
               suggests(refused)) {
        elsewhere->hint = arena_print(arena, "%s (in '%s')", refused, name);
    }
}

/* Returns the first name in TEXT. */
static const char *first_name(struct arena *arena, const char *text) {
    size_t begin = 0, length = 0;
    while (text[begin] && !isalpha((unsigned char)text[begin]) && text[begin] != '_')
        begin++;
    while (isalnum((unsigned char)text[begin + length]) || text[begin + length] == '_')
        length++;
    return arena_copy(arena, text + begin, length);
}

/* The program does not have what TEXT names, with WRONG as the message. Searches all shared
 * objects. */
static void read_elsewhere(struct libraries *libraries, const char *text, struct watched *watched,
                           const char **wrong, size_t *where) {
    struct elsewhere elsewhere = {0};
    list_libraries(libraries);
    for (size_t i = 0; i < libraries->all.count; i++) {
        struct library *library = libraries->all.data[i];
        if (library->is_late)
            continue;
        if (!open_library(libraries, library))
            look_in(libraries, library, text, watched, &elsewhere, wrong);
        else if (!elsewhere.refused && has_symbol(library, first_name(libraries->arena, text)))
            elsewhere.refused =
                arena_print(libraries->arena, "that is in '%s': %s", library->path, library->wrong);
    }
    if (elsewhere.found)
        return;
    if (elsewhere.refused) {
        *wrong = elsewhere.refused;
        *where = elsewhere.where;
    } else if (elsewhere.hint && !suggests(*wrong)) {
        *wrong = elsewhere.hint;
    }
}

/* Reads TEXT, which contains the NAME of a shared object. Returns NULL or an error message. */
static const char *read_in_library(struct libraries *libraries, const char *text, const char *name,
                                   size_t length, struct watched *watched, size_t *where) {
    const char *wrong = NULL;
    struct library *library = find_library(libraries, name, length, &wrong);
    *where = (size_t)(name - text);
    if (!library)
        return wrong;
    wrong = open_library(libraries, library);
    if (!wrong && library->is_late && is_of_other_version(library->binary))
        wrong = "it was built by another version of quipu; build it anew";
    if (!wrong && library->is_late && !tells_of_writes(library->binary))
        wrong = "the program loads it later, which only those built with 'quipu cc --quipu=watch' "
                "tell of";
    if (wrong)
        return arena_print(libraries->arena, "'%s': %s", library->path, wrong);
    library->variables.module = arena_copy(libraries->arena, name, length);
    return read_object(libraries, library, text, watched, where);
}

/* Reads TEXT, which selects heap blocks by a line of the program or of an instrumented shared
 * object. Returns NULL or an error message. */
static const char *read_blocks_anywhere(struct libraries *libraries, const char *text,
                                        struct watched *watched, size_t *where) {
    struct arena *arena = libraries->arena;
    const struct watched empty = *watched;
    const char *wrong = read_blocks(arena, libraries->program.binary, text, watched, where);
    if (!watched->object.is_missing)
        return wrong;
    list_libraries(libraries);
    for (size_t i = 0; i < libraries->all.count; i++) {
        struct library *library = libraries->all.data[i];
        struct watched other = empty;
        size_t at;
        if (open_library(libraries, library) || !tells_of_writes(library->binary))
            continue;
        const char *refused = read_blocks(arena, library->binary, text, &other, &at);
        if (other.object.is_missing)
            continue;
        *watched = other;
        watched->library = library;
        watched->binary = library->binary;
        *where = at;
        return refused;
    }
    return wrong;
}

const char *read_watched(struct libraries *libraries, const char *text, struct watched *watched,
                         size_t *where) {
    const struct library *program = &libraries->program;
    const char *wrong;
    size_t length;
    *where = 0;
    *watched = (struct watched){.text = text, .base = text, .library = program};
    if (read_range(libraries->arena, text, watched, &wrong, where))
        return wrong;
    watched->binary = program->binary;
    if (names_blocks(text))
        return read_blocks_anywhere(libraries, text, watched, where);
    if (begins_blocks(text) &&
        !(program->binary->dwarf && is_source(&program->variables, "heap", 4))) {
        *where = strlen("heap:");
        return "blocks of the heap are named by the line that allocates them: FILE:LINE, as table.c:88";
    }
    const char *name = find_library_name(text, &length);
    if (name)
        return read_in_library(libraries, text, name, length, watched, where);
    wrong = read_object(libraries, program, text, watched, where);
    if (wrong && watched->object.is_missing)
        read_elsewhere(libraries, text, watched, &wrong, where);
    return wrong;
}

/* layout.c: gives a trace's module the addresses of another binary; see layout.h.
 *
 * A function is found by its symbol, and a part that the compiler has moved out of it by that
 * part's. Local functions of several files may have one name. If both binaries have it equally
 * often, they have it in the same order, that of the link; otherwise the code decides. In any case
 * all instructions are compared, so other code is an error and no wrong address.
 *
 * Within a function, instructions have the positions that they had in the compiler's output, as the
 * notes tell: a linker does not change them.
 *
 * Not perfect: of several functions with the same name and the same code, the order decides. */
#include "trace/layout.h"

#include "symbols/binary.h"
#include "symbols/image.h"
#include "trace/layout_check.h"
#include "util/diag.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The symbols of a binary, by name and address, each one once. */
struct name_table {
    struct symbol *data;
    size_t count;
};

struct matching {
    struct arena arena; /* for what is not needed later */
    struct trace *trace;
    struct traced_module *module;
    const char *path; /* of the layout */
    struct checked_binary own, other;
    struct name_table own_names, other_names;
    const struct traced_function *kept; /* the first one that keeps its addresses, or NULL */
    const char *why;                    /* of that one */
    size_t kept_count;
};

/* ---- names ---- */

static int compare_names(const void *left, const void *right) {
    const struct symbol *a = left, *b = right;
    int order = strcmp(a->name, b->name);
    return order ? order : a->address < b->address ? -1 : a->address > b->address;
}

static struct name_table sort_names(struct arena *arena, const struct binary *binary) {
    struct name_table table = {ARENA_ARRAY(arena, struct symbol, binary->names.count), 0};
    if (!binary->names.count)
        return table;
    memcpy(table.data, binary->names.data, binary->names.count * sizeof *table.data);
    qsort(table.data, binary->names.count, sizeof *table.data, compare_names);
    for (size_t i = 0; i < binary->names.count; i++)
        if (!table.count || compare_names(&table.data[table.count - 1], &table.data[i]) != 0)
            table.data[table.count++] = table.data[i];
    return table;
}

/* Returns the part of TABLE whose symbols have NAME. */
static struct name_table find_named(const struct name_table *table, const char *name) {
    size_t low = 0, high = table->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(table->data[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (high = low; high < table->count && strcmp(table->data[high].name, name) == 0;)
        high++;
    return (struct name_table){table->data + low, high - low};
}

static const char *fragment_symbol(struct matching *matching,
                                   const struct traced_function *function, uint32_t fragment) {
    if (fragment == 0)
        return function->name;
    const char *name = binary_symbol(matching->own.binary, function->fragments[fragment]);
    return name ? name : arena_print(&matching->arena, "%s.cold", function->name);
}

/* ---- functions ---- */

/* Returns the instruction at ADDRESS as text. */
static const char *instruction_text(struct arena *arena, const struct binary *binary,
                                    uint64_t address) {
    enum {
        TEXT_MAX = 160
    };
    char text[TEXT_MAX];
    size_t count;
    const uint8_t *code = binary_code(binary, address, &count);
    if (!code || !disassemble_instruction(code, count, address, text, sizeof text, NULL, NULL))
        return "(bad)";
    return arena_copy(arena, text, strlen(text));
}

static const char *other_code(struct matching *matching, const char *name,
                              const struct code_difference *difference) {
    struct arena *arena = &matching->trace->arena;
    return arena_print(
        arena,
        "'%s': '%s' has other code than in '%s': at %s+0x%" PRIx32 " it has '%s', and not '%s'; "
        "build it from the same source with the same compiler and options, with gcc also "
        "-ffixed-r11, with clang also -fno-integrated-as",
        matching->path, name, matching->module->path, name, difference->offset,
        instruction_text(arena, matching->other.binary, difference->other),
        instruction_text(arena, matching->own.binary, difference->own));
}

/* Finds the address of FRAGMENT of FUNCTION in the layout. Returns NULL, or an error message. Sets
 * ADDRESS to 0 and WHY if the fragment is not found. */
static const char *match_fragment(struct matching *matching, const struct traced_function *function,
                                  uint32_t fragment, uint64_t *address, const char **why) {
    const char *name = fragment_symbol(matching, function, fragment);
    struct name_table own = find_named(&matching->own_names, name);
    struct name_table other = find_named(&matching->other_names, name);
    struct code_difference difference = {.differs = false};
    size_t order = 0, matches = 0;
    while (order < own.count && own.data[order].address != function->fragments[fragment])
        order++;
    bool ordered = own.count == other.count && order < own.count;
    for (size_t i = 0; i < other.count; i++) {
        size_t at = ordered ? (order + i) % other.count : i;
        struct code_difference found = compare_code(&matching->own, &matching->other, function,
                                                    fragment, other.data[at].address);
        if (found.differs) {
            difference = difference.differs ? difference : found;
            continue;
        }
        matches++;
        *address = other.data[at].address;
        if (ordered && i == 0)
            return NULL;
    }
    if (matches == 0 && other.count)
        return other_code(matching, name, &difference);
    if (matches != 1) {
        *address = 0;
        *why = matches ? "it has several functions with this name and the same code"
                       : "it has no symbol of this name";
    }
    return NULL;
}

static const char *match_function(struct matching *matching, struct traced_function *function) {
    uint64_t *addresses = ARENA_ARRAY(&matching->arena, uint64_t, function->fragment_count);
    for (uint32_t i = 0; i < function->fragment_count; i++) {
        const char *why = NULL;
        const char *cause = match_fragment(matching, function, i, &addresses[i], &why);
        if (cause)
            return cause;
        if (addresses[i])
            continue;
        if (!matching->kept_count++) {
            matching->kept = function;
            matching->why = why;
        }
        return NULL;
    }
    for (uint32_t i = 0; i < function->piece_count; i++) {
        struct piece *piece = &function->pieces[i];
        piece->shown = addresses[piece->fragment] + piece->offset;
    }
    return NULL;
}

static const char *match_functions(struct matching *matching, const char **warning) {
    struct traced_module *module = matching->module;
    for (size_t i = 0; i < module->functions.count; i++) {
        const char *cause = match_function(matching, &module->functions.data[i]);
        if (cause)
            return cause;
    }
    if (matching->kept_count == module->functions.count && matching->kept_count)
        return arena_print(&matching->trace->arena,
                           "'%s' has none of the functions of '%s', or no symbols; build it from "
                           "the same source, and do not strip it",
                           matching->path, module->path);
    if (matching->kept_count == 1)
        *warning =
            arena_print(&matching->trace->arena, "'%s': the function '%s' keeps its address: %s",
                        matching->path, matching->kept->name, matching->why);
    else if (matching->kept_count)
        *warning = arena_print(&matching->trace->arena,
                               "'%s': the function '%s' keeps its address: %s; so do %zu more",
                               matching->path, matching->kept->name, matching->why,
                               matching->kept_count - 1);
    return NULL;
}

/* ---- modules ---- */

static const char *file_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static const char *soname_of(struct arena *arena, const struct binary *binary) {
    return read_image(arena, binary).soname;
}

static bool is_same_text(const char *a, const char *b) {
    return a && b && strcmp(a, b) == 0;
}

/* Returns the module that the binary of PATH with SONAME or NULL is the layout of. Returns NULL,
 * and sets COUNT to the number of modules that it may be of, if that is not 1. */
static struct traced_module *choose_module(struct trace *trace, const char *path,
                                           const char *soname, size_t *count) {
    enum {
        BY_SONAME,
        BY_FILE_NAME,
        BY_KIND,
        WAYS
    };
    struct traced_module *found = NULL;
    *count = 0;
    for (int way = BY_SONAME; way < WAYS && *count == 0; way++)
        for (size_t i = 0; i < trace->modules.count; i++) {
            struct traced_module *module = trace->modules.data[i];
            const char *own = soname_of(&trace->arena, module->binary);
            bool fits = way == BY_SONAME ? is_same_text(own, soname)
                        : way == BY_FILE_NAME
                            ? is_same_text(file_name(module->path), file_name(path))
                            : !own && !soname;
            if (!fits)
                continue;
            found = module;
            ++*count;
        }
    return *count == 1 ? found : NULL;
}

static struct checked_binary make_checked(struct arena *arena, const struct binary *binary) {
    struct image image = read_image(arena, binary);
    return (struct checked_binary){binary,
                                   {image.fixed, image.begin, image.end, image.thread_size}};
}

static const char *match_module(struct trace *trace, struct traced_module *module, const char *path,
                                const char **warning) {
    struct matching matching = {.trace = trace, .module = module, .path = path};
    const char *cause;
    matching.own = make_checked(&matching.arena, module->binary);
    matching.other = make_checked(&matching.arena, module->layout);
    matching.own_names = sort_names(&matching.arena, module->binary);
    matching.other_names = sort_names(&matching.arena, module->layout);
    if (matching.own.addresses.fixed != matching.other.addresses.fixed)
        cause = arena_print(&trace->arena,
                            "'%s' is %sposition-independent, and '%s' is %s; link it with the same "
                            "options",
                            path, matching.other.addresses.fixed ? "not " : "", module->path,
                            matching.own.addresses.fixed ? "not" : "so");
    else
        cause = match_functions(&matching, warning);
    arena_release(&matching.arena);
    return cause;
}

const char *trace_set_layout(struct trace *trace, const char *path, const char **warning) {
    struct binary *binary;
    size_t count;
    const char *cause = binary_open(&trace->arena, path, &binary);
    *warning = NULL;
    if (cause)
        return arena_print(&trace->arena, "'%s': %s", path, cause);
    struct traced_module *module =
        choose_module(trace, path, soname_of(&trace->arena, binary), &count);
    if (module && !module->layout) {
        module->layout = binary; /* trace_close closes it */
        return match_module(trace, module, path, warning);
    }
    binary_close(binary);
    if (module)
        return arena_print(&trace->arena, "'%s': '%s' has a layout already", path, module->path);
    return arena_print(&trace->arena,
                       "'%s': %s of the trace may be laid out so; give it the file name of the one "
                       "that is meant, 'quipu info' lists them",
                       path, count ? "several modules" : "no module");
}

void need_layouts(struct trace *trace, const text_vector *paths) {
    for (size_t i = 0; i < paths->count; i++) {
        const char *warning;
        const char *cause = trace_set_layout(trace, paths->data[i], &warning);
        if (cause)
            die("%s", cause);
        if (warning)
            warn("%s", warning);
    }
    for (size_t i = 0; paths->count && i < trace->modules.count; i++)
        if (!trace->modules.data[i]->layout)
            warn("'%s' keeps its addresses: no --layout is for it", trace->modules.data[i]->path);
}

/* ---- instructions ---- */

void lay_out_piece(const struct traced_function *function, const struct piece *piece,
                   instruction_list *list) {
    uint64_t address = piece->shown;
    for (size_t i = 0; i < list->count; i++) {
        size_t left;
        struct decoded decoded;
        struct traced_instruction *instruction = &list->data[i];
        const uint8_t *code = binary_code(function->module->layout, address, &left);
        instruction->shown = address;
        if (code && decode_instruction(code, left, &decoded))
            instruction->shown_size = decoded.size;
        address += instruction->shown_size;
    }
}

void lay_out_padding(struct arena *arena, const struct traced_function *function,
                     const struct piece *piece, instruction_list *list) {
    size_t left;
    const uint8_t *code = binary_code(function->module->layout, piece->shown, &left);
    for (uint32_t at = 0; code && at < piece->size;) {
        struct traced_instruction instruction = {.address = piece->address,
                                                 .shown = piece->shown + at};
        if (!decode_instruction(code + at, left - at, &instruction.decoded))
            break;
        instruction.shown_size = instruction.decoded.size;
        instruction.effect =
            find_effect(&instruction.decoded, piece->address + instruction.decoded.size);
        vector_push(arena, list, instruction);
        at += instruction.decoded.size;
    }
}

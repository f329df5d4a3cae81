/* request.c: what is watched; see request.h.
 *
 * In a condition, 'old' and 'new' are variables at addresses above all others, with the bytes of a
 * hit. So is 'after_free' for blocks. */
#include "watch/request.h"

#include "format/data_file.h"
#include "symbols/sites.h"
#include "tracee/tracee.h"

#include <string.h>

#define OLD_ADDRESS   ((uint64_t)1 << 60)
#define NEW_ADDRESS   ((uint64_t)1 << 61)
#define FREED_ADDRESS ((uint64_t)3 << 60)

bool tells_of_writes(const struct binary *binary) {
    for (size_t i = 0; i < binary->names.count; i++)
        if (strcmp(binary->names.data[i].name, "quipu_watch_begin") == 0)
            return true;
    return has_watch_sites(binary);
}

bool is_of_other_version(const struct binary *binary) {
    size_t size = 0;
    const uint8_t *bytes = binary_section(binary, QUIPU_WATCH_SECTION, &size);
    uint32_t version;
    if (!bytes || size < sizeof version)
        return false;
    memcpy(&version, bytes, sizeof version);
    return version != QUIPU_WATCH_VERSION;
}

/* Returns NULL, or why writes by BINARY cannot be reported. */
static const char *check_binary(const struct binary *binary) {
    if (!tells_of_writes(binary))
        return "it was not built with 'quipu cc --quipu=watch'";
    if (is_of_other_version(binary))
        return "it was built by another version of quipu; build it anew";
    if (!binary->build_id_size || binary->build_id_size > QUIPU_BUILD_ID_MAX)
        return "it has no build id of up to 32 bytes; link it with -Wl,--build-id";
    return NULL;
}

/* Whether a shared object reports writes, if the program does not. */
static bool is_told_by_library(struct libraries *libraries, const struct watched *watched,
                               size_t count) {
    for (size_t i = 0; i < count; i++)
        if (watched[i].library != &libraries->program && !check_binary(watched[i].library->binary))
            return true;
    list_libraries(libraries);
    for (size_t i = 0; i < libraries->all.count; i++) {
        struct library *library = libraries->all.data[i];
        open_library(libraries, library);
        if (library->binary && !check_binary(library->binary))
            return true;
    }
    return false;
}

const char *check_watchable(struct libraries *libraries, const struct watched *watched,
                            size_t count) {
    const char *wrong = check_binary(libraries->program.binary);
    if (!wrong)
        return NULL;
    if (tells_of_writes(libraries->program.binary) ||
        !is_told_by_library(libraries, watched, count))
        return wrong;
    for (size_t i = 0; i < count; i++)
        if (watched[i].object.path.objects.count || watched[i].is_thread_local ||
            (watched[i].binary == libraries->program.binary && !watched[i].binary->build_id_size))
            return "pointers and thread-local variables are watched only in a program that was built "
                   "with 'quipu cc --quipu=watch'";
    return NULL;
}

/* ---- Copies ---- */

static void move_node(const struct libraries *libraries, const struct library *library,
                      struct node *node, uint64_t distance) {
    uint64_t place;
    if (!node)
        return;
    if (node->kind == NODE_OBJECT &&
        find_copy_in(libraries->program.binary, library->binary, node->number, &place))
        node->number = place + distance;
    move_node(libraries, library, node->a, distance);
    move_node(libraries, library, node->b, distance);
    move_node(libraries, library, node->c, distance);
}

void move_copies(const struct libraries *libraries, struct watched *watched, uint64_t bias,
                 uint64_t library_bias) {
    const struct library *library = watched->library;
    if (watched->copies_moved || library == &libraries->program)
        return;
    watched->copies_moved = true;
    if (watched->object.path.objects.count)
        move_node(libraries, library, watched->object.node, bias - library_bias);
    if (watched->has_condition)
        move_node(libraries, library, watched->condition.root, bias - library_bias);
}

/* ---- Conditions ---- */

/* The type of old and new. */
static struct type value_type(const struct watched *watched) {
    struct type type = {.kind = TYPE_INTEGER, .size = watched->value_size};
    if (!watched->object.node)
        return type;
    type = watched->object.node->type;
    while (type.kind == TYPE_ARRAY)
        type = target_of(watched->library->binary, &type);
    return type;
}

static void add_variable(struct variables *variables, const char *name, uint64_t address,
                         const struct type *type) {
    struct variable variable = {
        .name = name, .file = "", .external = true, .address = address, .type = *type};
    vector_push(variables->arena, &variables->all, variable);
}

/* Recognizes "old != new". It compares bytes, so it also works for objects without a value, such as
 * structures. */
static bool is_any_change(const char *text) {
    static const char *const changes[] = {"old!=new", "new!=old"};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        const char *c = text, *wanted = changes[i];
        while (*c && (*c == ' ' || *c == *wanted))
            wanted += *c++ != ' ';
        if (!*c && !*wanted)
            return true;
    }
    return false;
}

/* Adds the condition MORE to those of WATCHED. */
static void add_condition(struct arena *arena, const struct expression *more,
                          struct watched *watched) {
    struct expression *condition = &watched->condition;
    if (!watched->has_condition) {
        *condition = *more;
        watched->has_condition = true;
        return;
    }
    struct node *both = ARENA_NEW(arena, struct node);
    *both = (struct node){.kind = NODE_BINARY,
                          .operation = OPERATION_BOTH,
                          .type = {.kind = TYPE_INTEGER, .size = 4, .is_signed = true},
                          .a = condition->root,
                          .b = more->root};
    condition->root = both;
    for (size_t i = 0; i < more->objects.count; i++)
        vector_push(arena, &condition->objects, more->objects.data[i]);
}

const char *read_condition(struct arena *arena, const char *text, struct watched *watched,
                           size_t *where) {
    const struct variables *variables = &watched->library->variables;
    struct variables with = {
        .arena = arena, .binary = variables->binary, .module = variables->module};
    struct type type = value_type(watched);
    *where = 0;
    if (is_any_change(text)) {
        watched->only_changes = true;
        return NULL;
    }
    if (watched->whole.bits)
        return "of a bit field nothing can be asked; watch what it is a field of";
    for (size_t i = 0; i < variables->all.count; i++) {
        const struct variable *variable = &variables->all.data[i];
        if (variable->scope ||
            (strcmp(variable->name, "old") != 0 && strcmp(variable->name, "new") != 0))
            vector_push(arena, &with.all, *variable);
    }
    add_variable(&with, "old", OLD_ADDRESS, &type);
    add_variable(&with, "new", NEW_ADDRESS, &type);
    if (watched->is_blocks)
        add_variable(&with, "after_free", FREED_ADDRESS,
                     &(struct type){.kind = TYPE_INTEGER, .size = 1});
    struct expression condition;
    const char *wrong = parse_expression(arena, &with, text, &condition, where);
    if (wrong)
        return wrong;
    for (size_t i = 0; i < condition.objects.count; i++) {
        const struct node *node = condition.objects.data[i];
        while (node->kind == NODE_FIELD)
            node = node->a;
        watched->reads_program |= node->kind != NODE_OBJECT || node->number < OLD_ADDRESS;
    }
    add_condition(arena, &condition, watched);
    return NULL;
}

/* Returns the part of BYTES that belongs to the SIZE bytes at offset AT of the object, as a
 * variable at ADDRESS. */
static struct image image_of(const struct known_bytes *bytes, uint64_t at, uint64_t size,
                             uint64_t address) {
    uint64_t begin = at > bytes->begin ? at : bytes->begin;
    uint64_t end = bytes->begin + bytes->count;
    end = at + size < end ? at + size : end;
    return (struct image){address + (begin - at), begin < end ? end - begin : 0,
                          bytes->bytes + (begin - bytes->begin)};
}

/* In blocks, which have no type, up to eight written bytes form a number. */
static bool is_block_wanted(const struct watched *watched, const struct known_bytes *old,
                            const struct known_bytes *now, uint64_t begin, uint64_t end,
                            bool is_freed, const struct memory *program, uint64_t bias) {
    uint8_t freed = is_freed;
    for (uint64_t at = begin; at < end; at += sizeof(uint64_t)) {
        uint8_t bytes[2][sizeof(uint64_t)] = {{0}};
        struct image was = image_of(old, at, end - at, 0), is = image_of(now, at, end - at, 0);
        uint64_t size = was.size < sizeof bytes[0] ? was.size : sizeof bytes[0];
        if (was.size != end - at && was.size < sizeof bytes[0])
            break; /* not all bytes are known */
        memcpy(bytes[0], was.bytes, size);
        memcpy(bytes[1], is.bytes, size);
        struct image images[] = {{OLD_ADDRESS, sizeof bytes[0], bytes[0]},
                                 {NEW_ADDRESS, sizeof bytes[1], bytes[1]},
                                 {FREED_ADDRESS, 1, &freed}};
        struct image_memory memory = image_memory(images, 3, bias, program);
        if (evaluate(&watched->condition, &memory.memory) == TRUTH_TRUE)
            return true;
    }
    return false;
}

bool is_wanted(const struct watched *watched, const struct known_bytes *old,
               const struct known_bytes *now, uint64_t begin, uint64_t end, bool is_freed,
               pid_t process, uint64_t bias) {
    uint64_t size = watched->value_size;
    struct process_memory its = process_memory(process, bias);
    const struct memory *program = watched->reads_program ? &its.memory : NULL;
    if (!watched->has_condition)
        return true;
    if (watched->is_blocks)
        return is_block_wanted(watched, old, now, begin, end, is_freed, program, bias);
    for (uint64_t at = begin / size * size; at < end; at += size) {
        struct image images[] = {image_of(old, at, size, OLD_ADDRESS),
                                 image_of(now, at, size, NEW_ADDRESS)};
        struct image_memory memory = image_memory(images, 2, bias, program);
        if (evaluate(&watched->condition, &memory.memory) == TRUTH_TRUE)
            return true;
    }
    return false;
}

/* ---- Requests ---- */

struct quipu_watch_request request_for(const struct watched *watched, size_t place,
                                       uint32_t flags) {
    const struct binary *binary = watched->binary;
    struct quipu_watch_request request = {
        .address = watched->address, .size = watched->size, .flags = flags};
    if (watched->is_blocks)
        request.flags |= QUIPU_REQUEST_BLOCKS;
    if (binary && !watched->object.path.objects.count) {
        request.build_id_size = binary->build_id_size;
        memcpy(request.build_id, binary->build_id, binary->build_id_size);
    }
    if (watched->local) {
        request.address = watched->places.data[place].function;
        request.offset = watched->places.data[place].offset;
        request.flags |= QUIPU_REQUEST_LOCAL;
    }
    if (watched->is_thread_local) {
        request.address = 0;
        request.offset = watched->offset;
        request.flags |= QUIPU_REQUEST_THREADS;
    }
    return request;
}

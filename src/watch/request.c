/* request.c: what is to be watched; see request.h.
 *
 * In a condition, 'old' and 'new' are variables beyond all addresses, whose bytes are a hit's; and
 * so is 'after_free' of blocks. */
#include "watch/request.h"
#include "watch/heap.h"

#include <ctype.h>
#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define OLD_ADDRESS   ((uint64_t)1 << 60)
#define NEW_ADDRESS   ((uint64_t)1 << 61)
#define FREED_ADDRESS ((uint64_t)3 << 60)

static bool tells_of_writes(const struct binary *binary) {
    size_t size = 0;
    for (size_t i = 0; i < binary->names.count; i++)
        if (strcmp(binary->names.data[i].name, "quipu_watch_begin") == 0)
            return true;
    return binary_section(binary, QUIPU_SITES_SECTION, &size) && size > 0;
}

const char *check_watchable(const struct binary *binary) {
    if (!tells_of_writes(binary))
        return "it was not built with 'quipu cc --quipu=watch'";
    if (!binary->build_id_size || binary->build_id_size > QUIPU_BUILD_ID_MAX)
        return "it has no build id of up to 32 bytes; link it with -Wl,--build-id";
    return NULL;
}

/* Whether the function whose first byte is at ADDRESS, as linked, tells where it begins. */
static bool tells_of_calls(const struct binary *binary, uint64_t address) {
    size_t size = 0;
    const uint8_t *sites = binary_section(binary, QUIPU_SITES_SECTION, &size);
    uint64_t at = binary_section_address(binary, QUIPU_SITES_SECTION);
    for (size_t i = 0; sites && i + sizeof(struct quipu_site) <= size;
         i += sizeof(struct quipu_site)) {
        struct quipu_site site;
        memcpy(&site, sites + i, sizeof site);
        if (site.size == QUIPU_SITE_BEGIN &&
            at + i + offsetof(struct quipu_site, target) + (uint64_t)(int64_t)site.target ==
                address)
            return true;
    }
    return false;
}

/* ---- names ---- */

/* ADDRESS:LENGTH.  Returns false where TEXT has another form. */
static bool read_range(struct arena *arena, const char *text, struct watched *watched) {
    char *end;
    if (!isdigit((unsigned char)*text))
        return false;
    errno = 0;
    watched->address = strtoull(text, &end, 0);
    if (errno || *end != ':' || !isdigit((unsigned char)end[1]))
        return false;
    watched->size = strtoull(end + 1, &end, 0);
    if (errno || *end || !watched->size || watched->address + watched->size < watched->address)
        return false;
    watched->base = text;
    watched->whole = (struct part){.shape = byte_shape(arena), .count = watched->size};
    watched->value_size = 1;
    return true;
}

/* ---- locals ---- */

/* Whether what is read on the way to the object is a local, which has no place before its function
 * is called. */
static bool goes_by_local(const struct variables *variables, const struct object *object) {
    int64_t offset;
    for (size_t i = 0; i < object->way.objects.count; i++) {
        const struct node *node = object->way.objects.data[i];
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

unsigned count_inlined(const struct variable *local) {
    Dwarf_Die function = local->function, origin;
    Dwarf_Attribute attribute;
    unsigned count = 0;
    if (!dwarf_attr(&function, DW_AT_abstract_origin, &attribute) ||
        !dwarf_formref_die(&attribute, &origin))
        return 0;
    dwarf_func_inline_instances(&origin, count_instance, &count);
    return count;
}

/* The array that the slice is of. */
static const struct node *array_of(const struct object *object) {
    const struct node *place = object->node->a;
    return place && place->kind == NODE_OFFSET ? place->a : NULL;
}

/* Sets what the slice has beside its element. */
static void take_slice(struct arena *arena, struct watched *watched) {
    const struct object *object = &watched->object;
    const struct node *array = array_of(object);
    watched->whole.count = object->count;
    if (!array)
        return;
    watched->first = object->node->a->b->number;
    watched->base = arena_copy(arena, object->text + array->begin, array->end - array->begin);
}

static uint64_t value_size(const struct shape *shape) {
    while (shape->kind == TYPE_ARRAY)
        shape = shape->element;
    return shape->size;
}

const char *read_watched(struct arena *arena, const struct variables *variables, const char *text,
                         struct watched *watched, size_t *where) {
    *where = 0;
    *watched = (struct watched){.text = text, .base = text};
    if (read_range(arena, text, watched))
        return NULL;
    if (names_blocks(text))
        return read_blocks(arena, variables->binary, text, watched, where);
    const char *wrong = parse_object(arena, variables, text, &watched->object, where);
    if (wrong)
        return wrong;
    const struct node *node = watched->object.node;
    struct part *whole = &watched->whole;
    *whole = (struct part){.shape = make_shape(arena, variables->binary, &node->type),
                           .bit = node->bit,
                           .bits = node->bits};
    uint64_t size = node->bits ? (node->bit + node->bits + 7) / 8 : whole->shape->size;
    if (!size)
        return "how long that is cannot be told; give ADDRESS:LENGTH, or a slice [FIRST..LAST]";
    watched->value_size = value_size(whole->shape);
    if (watched->object.count)
        take_slice(arena, watched);
    watched->size = size * (whole->count ? whole->count : 1);
    if (goes_by_local(variables, &watched->object))
        return "where a local points to, or an element whose index one tells, cannot be watched";
    if (!watched->object.way.objects.count && object_address(node, 0, 0, &watched->address))
        watched->local = find_local(variables, watched->address, &watched->offset);
    if (watched->local && !tells_of_calls(variables->binary, watched->local->entry))
        return "its function does not tell of its calls: build its file with 'quipu cc "
               "--quipu=watch'";
    return NULL;
}

/* ---- conditions ---- */

/* The type of old and new. */
static struct type value_type(const struct watched *watched, const struct binary *binary) {
    struct type type = {.kind = TYPE_INTEGER, .size = watched->value_size};
    if (!watched->object.node)
        return type;
    type = watched->object.node->type;
    while (type.kind == TYPE_ARRAY)
        type = target_of(binary, &type);
    return type;
}

static void add_variable(struct variables *variables, const char *name, uint64_t address,
                         const struct type *type) {
    struct variable variable = {.name = name,
                                .path = name,
                                .key = name,
                                .file = "",
                                .external = true,
                                .address = address,
                                .type = *type};
    vector_push(variables->arena, &variables->all, variable);
}

/* "old != new" is asked of bytes: of what has no value, too, such as structures. */
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

const char *read_condition(struct arena *arena, const struct variables *variables, const char *text,
                           struct watched *watched, size_t *where) {
    struct variables with = {.arena = arena, .binary = variables->binary};
    struct type type = value_type(watched, variables->binary);
    *where = 0;
    watched->only_changes = is_any_change(text);
    if (watched->only_changes)
        return NULL;
    if (watched->whole.bits)
        return "of a bit field nothing can be asked; watch what it is a field of";
    for (size_t i = 0; i < variables->all.count; i++) {
        const struct variable *variable = &variables->all.data[i];
        if (strcmp(variable->path, "old") != 0 && strcmp(variable->path, "new") != 0)
            vector_push(arena, &with.all, *variable);
    }
    add_variable(&with, "old", OLD_ADDRESS, &type);
    add_variable(&with, "new", NEW_ADDRESS, &type);
    if (watched->is_blocks)
        add_variable(&with, "after_free", FREED_ADDRESS,
                     &(struct type){.kind = TYPE_INTEGER, .size = 1});
    struct expression *condition = &watched->condition;
    const char *wrong = parse_expression(arena, &with, text, condition, where);
    if (wrong)
        return wrong;
    watched->has_condition = true;
    for (size_t i = 0; i < condition->objects.count; i++) {
        const struct node *node = condition->objects.data[i];
        while (node->kind == NODE_FIELD)
            node = node->a;
        watched->reads_program |= node->kind != NODE_OBJECT || node->number < OLD_ADDRESS;
    }
    return NULL;
}

/* The bytes of BYTES that belong to the SIZE bytes at AT of the object, as a variable at ADDRESS.
 */
static struct image image_of(const struct told_bytes *bytes, uint64_t at, uint64_t size,
                             uint64_t address) {
    uint64_t begin = at > bytes->begin ? at : bytes->begin;
    uint64_t end = bytes->begin + bytes->count;
    end = at + size < end ? at + size : end;
    return (struct image){address + (begin - at), begin < end ? end - begin : 0,
                          bytes->bytes + (begin - bytes->begin)};
}

/* Of bytes of no type, up to eight of those that were written are a number. */
static bool is_block_wanted(const struct watched *watched, const struct told_bytes *old,
                            const struct told_bytes *now, uint64_t begin, uint64_t end,
                            bool is_freed, pid_t process, uint64_t bias) {
    uint8_t freed = is_freed;
    for (uint64_t at = begin; at < end; at += sizeof(uint64_t)) {
        uint8_t bytes[2][sizeof(uint64_t)] = {{0}};
        struct image was = image_of(old, at, end - at, 0), is = image_of(now, at, end - at, 0);
        uint64_t size = was.size < sizeof bytes[0] ? was.size : sizeof bytes[0];
        if (was.size != end - at && was.size < sizeof bytes[0])
            break; /* not all was told */
        memcpy(bytes[0], was.bytes, size);
        memcpy(bytes[1], is.bytes, size);
        struct image images[] = {{OLD_ADDRESS, sizeof bytes[0], bytes[0]},
                                 {NEW_ADDRESS, sizeof bytes[1], bytes[1]},
                                 {FREED_ADDRESS, 1, &freed}};
        if (evaluate_with(&watched->condition, process, bias, images, 3) == TRUTH_TRUE)
            return true;
    }
    return false;
}

bool is_wanted(const struct watched *watched, const struct told_bytes *old,
               const struct told_bytes *now, uint64_t begin, uint64_t end, bool is_freed,
               pid_t process, uint64_t bias) {
    uint64_t size = watched->value_size;
    if (!watched->has_condition)
        return true;
    if (watched->is_blocks)
        return is_block_wanted(watched, old, now, begin, end, is_freed,
                               watched->reads_program ? process : 0, bias);
    for (uint64_t at = begin / size * size; at < end; at += size) {
        struct image images[] = {image_of(old, at, size, OLD_ADDRESS),
                                 image_of(now, at, size, NEW_ADDRESS)};
        if (evaluate_with(&watched->condition, watched->reads_program ? process : 0, bias, images,
                          2) == TRUTH_TRUE)
            return true;
    }
    return false;
}

/* ---- requests ---- */

struct quipu_watch_request request_for(const struct watched *watched, const struct binary *binary,
                                       uint32_t flags) {
    struct quipu_watch_request request = {
        .address = watched->address, .size = watched->size, .flags = flags};
    if (watched->is_blocks)
        request.flags |= QUIPU_REQUEST_BLOCKS;
    if (watched->is_blocks || (watched->object.node && !watched->object.way.objects.count)) {
        request.build_id_size = binary->build_id_size;
        memcpy(request.build_id, binary->build_id, binary->build_id_size);
    }
    if (watched->local) {
        request.address = watched->local->entry;
        request.offset = watched->offset;
        request.flags |= QUIPU_REQUEST_LOCAL;
    }
    return request;
}

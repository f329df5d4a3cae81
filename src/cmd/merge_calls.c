/* merge_calls.c: makes one tree of the calling contexts of several data files; see merge_calls.h.
 *
 * Each process had its modules at other addresses. In the result, each module has a load bias of
 * its own. The biases are farther apart than any addresses as linked, so an address identifies its
 * module. An address in no module becomes 0, not known. */
#include "cmd/merge_calls.h"

#include "data/calls.h"
#include "format/calls.h"
#include "format/data_file.h"
#include "util/diag.h"

#include <string.h>

enum {
    BIAS_SHIFT = 48, /* addresses of programs have 47 bits */
    MODULES_MAX = 1 << 16
};

uint64_t merged_load_bias(size_t number) {
    if (number >= MODULES_MAX)
        die("there are more than %d different programs and libraries; merge fewer runs",
            MODULES_MAX);
    return (uint64_t)number << BIAS_SHIFT;
}

struct merged {
    const struct data_module *const *modules;
    size_t module_count;
};

/* Returns the address in the merged file of ADDRESS, as linked, in MODULE. Returns 0 if the merged
 * file does not have the module. */
static uint64_t merged_address(const struct merged *merged, const struct module *module,
                               uint64_t address) {
    for (size_t i = 0; module && i < merged->module_count; i++) {
        const struct data_module *candidate = merged->modules[i];
        bool same_id = candidate->build_id_size == module->build_id_size &&
                       memcmp(candidate->build_id, module->build_id, module->build_id_size) == 0;
        if (same_id && candidate->cells_address == module->cells_address &&
            (module->build_id_size || strcmp(candidate->path, module->path) == 0))
            return address + merged_load_bias(i);
    }
    return 0;
}

/* The entry of a function whose module is gone: an address that no module contains. 0 is that of a
 * node that was not filled in. */
enum {
    NOWHERE = 1
};

static void add_root(struct buffer *buffer) {
    struct quipu_context root = {.parent = 0};
    buffer_add(buffer, &root, sizeof root);
}

static void add_node(struct buffer *buffer, const struct merged *merged,
                     const struct contexts *contexts, const struct context *context) {
    const struct places *places = &contexts->places;
    const struct call_site *site = vector_at(&places->sites, context->site);
    const struct called_function *callee = vector_at(&places->functions, context->function);
    uint64_t entry = merged_address(merged, callee->module, callee->address);
    struct quipu_context node = {
        .parent = context->parent + 1,
        .site = merged_address(merged, site->module, site->address),
        .callee = entry ? entry : NOWHERE,
        .calls = context->calls,
        .inclusive = context->inclusive,
        .exclusive = context->exclusive,
    };
    buffer_add(buffer, &node, sizeof node);
}

void merge_calls(struct buffer *buffer, const char *const *paths, size_t path_count,
                 const struct data_module *const *modules, size_t module_count) {
    struct merged merged = {modules, module_count};
    struct contexts contexts;
    struct profile *profile = profile_open((char *const *)paths, path_count);
    contexts_read(profile, (struct selection){0}, false, &contexts);
    size_t count = contexts.nodes.count;
    if (count > UINT32_MAX)
        die("there are more than %u calling contexts; merge fewer runs", UINT32_MAX);
    uint64_t size = sizeof(struct quipu_call_tree) + count * sizeof(struct quipu_context);
    uint64_t padding = (QUIPU_PAGE - size % QUIPU_PAGE) % QUIPU_PAGE;
    struct quipu_call_tree chunk = {
        .chunk = {.kind = QUIPU_CALL_TREE, .size = size + padding},
        .count = (uint32_t)count,
        .capacity = (uint32_t)count,
        .flags = QUIPU_CALL_TREE_EXCLUSIVE,
        .thread = 1,
    };
    buffer_add(buffer, &chunk, sizeof chunk);
    add_root(buffer);
    for (size_t i = 1; i < count; i++)
        add_node(buffer, &merged, &contexts, &contexts.nodes.data[i]);
    static const char zeros[QUIPU_PAGE];
    buffer_add(buffer, zeros, padding);
    contexts_release(&contexts);
    profile_close(profile);
}

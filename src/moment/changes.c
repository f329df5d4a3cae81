/* changes.c: the changes of a moment, as text; see changes.h. */
#include "moment/changes.h"

#include "symbols/demangle.h"
#include "x86/decode.h"

#include <string.h>

static const char *name_of(struct search *search, const struct node *node) {
    const char *text = search->expression->text + node->begin;
    return arena_copy(&search->values, text, node->end - node->begin);
}

static struct change *find_change(struct search *search, const char *name) {
    for (size_t i = 0; i < search->changes.count; i++)
        if (strcmp(search->changes.data[i].name, name) == 0)
            return &search->changes.data[i];
    return NULL;
}

/* The pointer of a reference is not in the text; the `end` of its node is 0. */
void note_before(struct search *search, pid_t process) {
    arena_release(&search->values);
    memset(&search->changes, 0, sizeof search->changes);
    struct process_memory memory = process_memory(process, search->run.bias);
    for (size_t i = 0; i < search->expression->objects.count; i++) {
        const struct node *node = search->expression->objects.data[i];
        struct change change = {.name = node->end ? name_of(search, node) : NULL};
        if (!change.name || find_change(search, change.name))
            continue;
        change.before = value_text(&search->values, node, &memory.memory);
        change.after = change.before;
        vector_push(&search->values, &search->changes, change);
    }
}

void note_after(struct search *search, pid_t process) {
    struct process_memory memory = process_memory(process, search->run.bias);
    for (size_t i = 0; i < search->expression->objects.count; i++) {
        const struct node *node = search->expression->objects.data[i];
        struct change *change = node->end ? find_change(search, name_of(search, node)) : NULL;
        if (change)
            change->after = value_text(&search->values, node, &memory.memory);
    }
}

static bool name_operand(void *context, uint64_t address, char *text, size_t size) {
    const struct search *search = context;
    if (!binary_name(search->run.binary, address - search->run.bias, text, size))
        return false;
    demangle_name(text, size);
    return true;
}

const char *read_instruction(struct search *search, pid_t process) {
    enum {
        SIZE_MAX_OF_ONE = 15
    };
    uint8_t code[SIZE_MAX_OF_ONE];
    char text[256];
    size_t size = sizeof code;
    while (size && !read_memory(process, search->address, code, size))
        size--;
    if (!size || !disassemble_instruction(code, size, search->address, text, sizeof text,
                                          name_operand, search))
        return "";
    return arena_copy(search->arena, text, strlen(text));
}

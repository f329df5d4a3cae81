/* places.c: numbers of a trace's places; see places.h. Each function, instruction or thread is
 * described once. */
#include "cache/places.h"

#include "symbols/binary.h"
#include "symbols/line_table.h"

#include <string.h>

static uint32_t add_place(struct reference_source *source, struct reference_place place) {
    vector_push(&source->arena, &source->places, place);
    return (uint32_t)source->places.count - 1;
}

static struct reference_place describe_function(const struct traced_function *function) {
    return (struct reference_place){.function = function->name,
                                    .module = function->module->path,
                                    .identity = function->address};
}

/* A line of a header is one place, even if several functions or binaries have code of it. */
static uint32_t number_line(struct place_numbers *numbers, struct reference_source *source,
                            const struct trace_step *step) {
    const struct traced_function *function = step->function;
    const struct line_table *table = binary_lines(function->module->binary);
    const struct line_row *row = line_table_find(table, step->instruction->address);
    struct reference_place place = describe_function(function);
    const char *key = function->name;
    if (row && row->line) {
        place = (struct reference_place){.file = table->files.data[row->file], .line = row->line};
        key = arena_print(&source->arena, "%s:%u", place.file, place.line);
    }
    uint32_t next = (uint32_t)source->places.count;
    uint32_t number = *map_add(&source->arena, &numbers->lines, key, strlen(key), next);
    return number == next ? add_place(source, place) : number;
}

static uint32_t describe(struct place_numbers *numbers, struct reference_source *source,
                         const struct traced_thread *thread, const struct trace_step *step) {
    switch (numbers->kind) {
    case PLACE_FUNCTION:
        return add_place(source, describe_function(step->function));
    case PLACE_LINE:
        return number_line(numbers, source, step);
    case PLACE_THREAD:
        return add_place(source,
                         (struct reference_place){
                             .process = thread->process->pid,
                             .thread = thread->tid,
                             .identity = (uint64_t)thread->process->number << 32 | thread->number});
    case PLACE_PROGRAM:
    case PLACE_OBJECT: /* objects.h */
        break;
    }
    return add_place(source, (struct reference_place){0});
}

uint32_t number_place(struct place_numbers *numbers, struct reference_source *source,
                      const struct traced_thread *thread, const struct trace_step *step) {
    const void *const pointers[] = {
        [PLACE_PROGRAM] = source,         [PLACE_FUNCTION] = step->function,
        [PLACE_LINE] = step->instruction, [PLACE_THREAD] = thread,
        [PLACE_OBJECT] = source,
    };
    const void *pointer = pointers[numbers->kind];
    if (pointer == numbers->recent)
        return numbers->recent_number;
    uint32_t *value = number_table_at(&numbers->known, (uintptr_t)pointer);
    if (!*value)
        *value = 1 + describe(numbers, source, thread, step);
    numbers->recent = pointer;
    numbers->recent_number = *value - 1;
    return numbers->recent_number;
}

void place_numbers_release(struct place_numbers *numbers) {
    number_table_release(&numbers->known);
}

/* objects.c: numbers of the objects that are accessed; see objects.h. */
#include "cache/objects.h"

/* What is in no variable, block or frame. Their addresses are keys. */
static const char control_block, other_memory;

enum {
    CONTROL_BLOCK = 64 /* bytes from the thread pointer on that are the C library's, such as the
                          stack protector's (glibc, tcbhead_t; musl, struct pthread) */
};

void object_numbers_release(struct object_numbers *numbers) {
    number_table_release(&numbers->known);
    number_table_release(&numbers->pending);
    number_table_release(&numbers->touched);
    number_table_release(&numbers->site_numbers);
    arena_release(&numbers->arena);
}

static uint32_t add_place(struct reference_source *source, struct reference_place place) {
    vector_push(&source->arena, &source->places, place);
    return (uint32_t)source->places.count - 1;
}

/* Returns the number of PLACE, which POINTER describes. */
static uint32_t number_known(struct object_numbers *numbers, struct reference_source *source,
                             const void *pointer, struct reference_place place) {
    uint32_t *value = number_table_at(&numbers->known, (uintptr_t)pointer);
    if (!*value)
        *value = 1 + add_place(source, place);
    return *value - 1;
}

/* ---- modules ---- */

static struct object_module *read_module(struct object_numbers *numbers,
                                         const struct traced_module *module) {
    struct object_module *result = ARENA_NEW(&numbers->arena, struct object_module);
    *result = (struct object_module){.module = module};
    read_static_objects(&numbers->arena, module->binary, &result->objects);
    const object_list *sections = &result->objects.sections;
    if (sections->count) {
        const struct static_object *last = &sections->data[sections->count - 1];
        result->begin = sections->data[0].address;
        result->end = last->address + last->size;
    }
    vector_push(&numbers->arena, &numbers->modules, result);
    return result;
}

static const struct object_module *find_module(struct object_numbers *numbers,
                                               const struct traced_module *module) {
    for (size_t i = 0; i < numbers->modules.count; i++)
        if (numbers->modules.data[i]->module == module)
            return numbers->modules.data[i];
    return read_module(numbers, module);
}

static struct reference_place describe_static(const struct traced_module *module,
                                              const struct static_object *object,
                                              enum object_kind kind) {
    return (struct reference_place){.object = (uint8_t)kind,
                                    .name = object->name,
                                    .file = object->file,
                                    .module = module->path,
                                    .bytes = object->size,
                                    .identity = object->address};
}

/* Returns 1 + the place of the variable or section that contains ADDRESS; 0: none. */
static uint32_t number_static(struct object_numbers *numbers, struct reference_source *source,
                              const struct traced_process *process, uint64_t address) {
    for (size_t i = 0; i < process->modules.count; i++) {
        const struct loaded_module *loaded = &process->modules.data[i];
        const struct object_module *module = find_module(numbers, loaded->module);
        uint64_t linked = address - loaded->bias;
        if (linked < module->begin || linked >= module->end)
            continue;
        const struct static_object *object = find_static_object(&module->objects, linked);
        if (object)
            return 1 + number_known(
                           numbers, source, object,
                           describe_static(loaded->module, object,
                                           object->is_section ? OBJECT_SECTION : OBJECT_VARIABLE));
    }
    return 0;
}

/* Returns 1 + the place of the thread-local variable that contains ADDRESS, of the thread whose
 * thread pointer is POINTER; 0: none. */
static uint32_t number_thread_local(struct object_numbers *numbers, struct reference_source *source,
                                    const struct traced_process *process, uint64_t pointer,
                                    uint64_t address) {
    if (address >= pointer && address - pointer < CONTROL_BLOCK)
        return 1 + number_known(numbers, source, &control_block,
                                (struct reference_place){.object = OBJECT_CONTROL_BLOCK});
    for (size_t i = 0; i < process->modules.count; i++) {
        const struct object_module *module = find_module(numbers, process->modules.data[i].module);
        uint64_t end = module->objects.thread_local_end;
        if (!end || address >= pointer || pointer - address > end)
            continue;
        const struct static_object *object =
            object_around(&module->objects.thread_locals, end - (pointer - address));
        if (object)
            return 1 + number_known(numbers, source, object,
                                    describe_static(module->module, object, OBJECT_THREAD_LOCAL));
    }
    return 0;
}

/* ---- the heap ---- */

struct object_process *find_object_process(struct object_numbers *numbers,
                                           const struct traced_process *process) {
    if (numbers->recent && numbers->recent->process == process)
        return numbers->recent;
    for (size_t i = 0; i < numbers->processes.count; i++)
        if (numbers->processes.data[i]->process == process)
            return numbers->recent = numbers->processes.data[i];
    struct object_process *result = ARENA_NEW(&numbers->arena, struct object_process);
    *result = (struct object_process){.process = process};
    vector_push(&numbers->arena, &numbers->processes, result);
    return numbers->recent = result;
}

void follow_heap(struct object_numbers *numbers, struct reference_source *source,
                 const struct trace *trace, const struct traced_thread *thread,
                 const struct trace_walk *walk, const struct trace_step *step) {
    const struct heap_change *change = &step->heap;
    struct object_process *process = find_object_process(numbers, thread->process);
    for (size_t i = 0; i < trace->threads.count && !process->has_threads; i++)
        process->has_threads =
            trace->threads.data[i] != thread && trace->threads.data[i]->process == thread->process;
    bool in_order = source->global || !process->has_threads;
    if (change->freed && in_order) {
        if (change->freed_size && change->freed + change->freed_size > change->freed)
            end_heap_range(&numbers->arena, &process->heap, change->freed,
                           change->freed + change->freed_size);
        else
            end_heap_block(&numbers->arena, &process->heap, change->freed);
    }
    if (numbers->partial)
        note_heap_change(numbers, process, change, in_order);
    if (!change->block)
        return;
    struct heap_block block = {.begin = change->block,
                               .end = change->block + change->size,
                               .maps = change->maps,
                               .place =
                                   number_allocation(numbers, source, walk, step, change->maps)};
    add_heap_block(&numbers->arena, &process->heap, block);
    touch_place(numbers, source, block.place);
    struct reference_place *place = vector_at(&source->places, block.place);
    place->blocks++;
    place->bytes += change->size;
}

/* ---- all objects ---- */

uint32_t number_code(struct object_numbers *numbers, struct reference_source *source,
                     const struct trace_step *step) {
    const struct traced_module *module = step->function->module;
    uint32_t place =
        number_known(numbers, source, module,
                     (struct reference_place){.object = OBJECT_CODE, .module = module->path});
    return touch_place(numbers, source, place);
}

/* Returns the place of what contains ADDRESS, which is in no frame or block. */
static uint32_t number_other(struct object_numbers *numbers, struct reference_source *source,
                             const struct traced_process *process, const struct trace_walk *walk,
                             uint64_t address) {
    uint32_t place = number_static(numbers, source, process, address);
    if (!place)
        place = number_thread_local(numbers, source, process, trace_thread_pointer(walk), address);
    return place ? place - 1
                 : number_known(numbers, source, &other_memory,
                                (struct reference_place){.object = OBJECT_OTHER});
}

uint32_t number_object(struct object_numbers *numbers, struct reference_source *source,
                       const struct traced_thread *thread, const struct trace_walk *walk,
                       uint64_t address) {
    const struct traced_process *process = thread->process;
    const struct traced_function *function = trace_frame_at(walk, address);
    if (function) {
        struct reference_place place = {.object = OBJECT_STACK,
                                        .function = function->name,
                                        .module = function->module->path,
                                        .identity = function->address};
        return touch_place(numbers, source, number_known(numbers, source, function, place));
    }
    const struct object_process *known = find_object_process(numbers, process);
    const struct heap_block *block = find_heap_block(&known->heap, address);
    if (block)
        return touch_place(numbers, source, block->place);
    uint32_t place = number_other(numbers, source, process, walk, address);
    if (numbers->partial && !find_heap_block(&known->part.covered, address))
        place = number_pending(numbers, source, known, address, place);
    return touch_place(numbers, source, place);
}

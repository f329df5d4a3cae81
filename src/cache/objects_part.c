/* objects_part.c: objects of a part of a trace, which does not know what was allocated in front of
 * it; see objects.h, struct part_heap.
 *
 * A process's threads come one after the other. So the heap that a thread's part begins with is
 * what the thread's parts in front of it, and all of the threads before, have left.
 *
 * Not perfect: if a block was freed by code outside of the trace, and the part allocates a block
 * that overlaps it, what is left of the first one counts for it up to the end of the part. In a
 * whole run it is not known any more from there on. */
#include "cache/objects.h"

#include "cache/part_file.h"

void begin_object_part(struct object_numbers *numbers, struct reference_source *source) {
    for (size_t i = 0; i < numbers->processes.count; i++) {
        struct object_process *process = numbers->processes.data[i];
        process->heap = (struct heap_blocks){0};
        process->part = (struct part_heap){0};
    }
    numbers->partial = true;
    number_table_release(&numbers->pending);
    numbers->pending_list.count = 0;
    numbers->stamp++;
    source->touched.count = 0;
}

uint32_t touch_place(struct object_numbers *numbers, struct reference_source *source,
                     uint32_t place) {
    if (!numbers->partial)
        return place;
    uint32_t *stamp = number_table_at(&numbers->touched, place);
    if (*stamp != numbers->stamp)
        vector_push(&source->arena, &source->touched, place);
    *stamp = numbers->stamp;
    return place;
}

uint32_t number_pending(struct object_numbers *numbers, struct reference_source *source,
                        const struct object_process *process, uint64_t address, uint32_t place) {
    const struct heap_block *freed = find_block_below(&process->part.freed, address);
    uint64_t pointer = freed ? freed->begin : 0;
    uint32_t *first = number_table_at(&numbers->pending, address);
    for (uint32_t next = *first; next; next = numbers->pending_list.data[next - 1].next)
        if (numbers->pending_list.data[next - 1].freed == pointer)
            return numbers->pending_list.data[next - 1].place;
    struct reference_place pending = {.object = OBJECT_PENDING,
                                      .identity = address,
                                      .bytes = pointer,
                                      .blocks = 1 + (uint64_t)place,
                                      .process = process->process->number};
    vector_push(&source->arena, &source->places, pending);
    uint32_t number = (uint32_t)source->places.count - 1;
    vector_push(&numbers->arena, &numbers->pending_list,
                ((struct pending_object){pointer, number, *first}));
    *first = (uint32_t)numbers->pending_list.count;
    return number;
}

static void add_range(struct object_numbers *numbers, struct heap_blocks *list, uint64_t begin,
                      uint64_t end) {
    struct heap_block block = {.begin = begin, .end = end, .maps = true};
    add_heap_block(&numbers->arena, list, block);
}

void note_heap_change(struct object_numbers *numbers, struct object_process *process,
                      const struct heap_change *change, bool frees) {
    struct part_heap *part = &process->part;
    uint64_t freed_end = change->freed + change->freed_size;
    if (frees && change->freed && freed_end > change->freed)
        add_range(numbers, &part->covered, change->freed, freed_end);
    else if (frees && change->freed && !find_heap_block(&part->covered, change->freed))
        add_range(numbers, &part->freed, change->freed, change->freed + 1);
    if (change->block)
        add_range(numbers, &part->covered, change->block, change->block + change->size);
}

/* ---- what is written ---- */

struct writing {
    struct buffer bytes;
    uint64_t count;
    bool places; /* of the blocks, and whether they are mappings, too */
};

static void write_one(void *context, const struct heap_block *block) {
    struct writing *writing = context;
    part_number(&writing->bytes, block->begin, 8);
    part_number(&writing->bytes, block->end, 8);
    if (writing->places) {
        part_number(&writing->bytes, block->place, 4);
        part_number(&writing->bytes, block->maps, 1);
    }
    writing->count++;
}

static void write_list(struct buffer *out, const struct heap_blocks *heap, bool places) {
    struct writing writing = {.places = places};
    visit_heap_blocks(heap, write_one, &writing);
    part_number(out, writing.count, 8);
    buffer_add(out, writing.bytes.data ? writing.bytes.data : "", writing.bytes.count);
    buffer_release(&writing.bytes);
}

static bool is_allocation(const struct reference_place *place) {
    return (place->object == OBJECT_HEAP || place->object == OBJECT_MAPPING) && place->blocks;
}

/* Writes how much each call has allocated, and sets that to nothing. */
static void write_allocated(struct buffer *out, struct reference_source *source) {
    uint64_t count = 0;
    for (size_t i = 0; i < source->touched.count; i++)
        count += is_allocation(&source->places.data[source->touched.data[i]]);
    part_number(out, count, 8);
    for (size_t i = 0; i < source->touched.count; i++) {
        struct reference_place *place = vector_at(&source->places, source->touched.data[i]);
        if (!is_allocation(place))
            continue;
        part_number(out, source->touched.data[i], 4);
        part_number(out, place->blocks, 8);
        part_number(out, place->bytes, 8);
        place->blocks = place->bytes = 0;
    }
}

void write_heap_part(struct reference_source *source, const struct object_process *process,
                     struct buffer *out) {
    part_number(out, process->process->number, 4);
    write_list(out, &process->part.freed, false);
    write_list(out, &process->part.covered, false);
    write_list(out, &process->heap, true);
    write_allocated(out, source);
}

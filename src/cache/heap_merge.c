/* heap_merge.c: the heaps of a trace's processes between its parts; see heap_merge.h. */
#include "cache/heap_merge.h"

static struct heap_blocks *heap_of(struct merged_heaps *heaps, uint32_t process) {
    for (size_t i = 0; i < heaps->list.count; i++)
        if (heaps->list.data[i].process == process)
            return &heaps->list.data[i].blocks;
    vector_push(&heaps->arena, &heaps->list, (struct merged_heap){.process = process});
    return &heaps->list.data[heaps->list.count - 1].blocks;
}

const struct heap_block *find_merged_block(const struct merged_heaps *heaps, uint32_t process,
                                           uint64_t address, uint64_t freed) {
    for (size_t i = 0; i < heaps->list.count; i++) {
        if (heaps->list.data[i].process != process)
            continue;
        const struct heap_block *block = find_heap_block(&heaps->list.data[i].blocks, address);
        return block && block->begin != freed ? block : NULL;
    }
    return NULL;
}

/* Reads the next range. */
static struct heap_block next_range(struct part_file *file) {
    struct heap_block block = {.begin = part_next(file, 8)};
    block.end = part_next(file, 8);
    if (block.begin >= block.end)
        refuse_part_file(file);
    return block;
}

void merge_heap(struct merged_heaps *heaps, struct part_file *file, struct merged_places places,
                bool wanted) {
    enum {
        RANGE_SIZE = 16, /* bytes */
        BLOCK_SIZE = RANGE_SIZE + 5,
        ALLOCATED_SIZE = 20
    };
    struct heap_blocks *heap = heap_of(heaps, (uint32_t)part_next(file, 4));
    for (uint64_t i = part_next_count(file, RANGE_SIZE); i-- > 0;) {
        struct heap_block freed = next_range(file);
        if (wanted)
            end_heap_block(&heaps->arena, heap, freed.begin);
    }
    for (uint64_t i = part_next_count(file, RANGE_SIZE); i-- > 0;) {
        struct heap_block covered = next_range(file);
        if (wanted)
            end_heap_range(&heaps->arena, heap, covered.begin, covered.end);
    }
    for (uint64_t i = part_next_count(file, BLOCK_SIZE); i-- > 0;) {
        struct heap_block block = next_range(file);
        uint64_t place = part_next(file, 4);
        block.maps = part_next(file, 1);
        if (!wanted)
            continue;
        block.place = places.number(places.context, place);
        add_heap_block(&heaps->arena, heap, block);
    }
    for (uint64_t i = part_next_count(file, ALLOCATED_SIZE); i-- > 0;) {
        uint64_t place = part_next(file, 4), blocks = part_next(file, 8);
        uint64_t bytes = part_next(file, 8);
        if (wanted)
            places.allocated(places.context, places.number(places.context, place), blocks, bytes);
    }
    check_part_file(file);
}

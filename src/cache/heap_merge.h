/* heap_merge.h: the heaps of a trace's processes between its parts; see objects.h, struct
 * part_heap. */
#ifndef QUIPU_CACHE_HEAP_MERGE_H
#define QUIPU_CACHE_HEAP_MERGE_H

#include "cache/heap_blocks.h"
#include "cache/part_file.h"

struct merged_heap {
    uint32_t process; /* its number in the trace */
    struct heap_blocks blocks;
};

/* Zeros are empty. All is in `arena`. */
struct merged_heaps {
    struct arena arena;
    VECTOR(struct merged_heap) list;
};

/* Returns the block that contains ADDRESS where a part has asked for it that has freed the pointer
 * FREED before; NULL: there is none. */
const struct heap_block *find_merged_block(const struct merged_heaps *heaps, uint32_t process,
                                           uint64_t address, uint64_t freed);

/* Returns the merged index of a place of the file that is read. A wrong place ends the program. */
typedef uint32_t number_part_place(void *context, uint64_t place);

/* Reads what the part of a thread in FILE has done to the heap of its process, and does it if it is
 * WANTED. The merged PLACES, of which NUMBER tells the index with CONTEXT, get what their calls
 * have allocated. */
struct merged_places {
    number_part_place *number;
    void *context;
    void (*allocated)(void *context, uint32_t number, uint64_t blocks, uint64_t bytes);
};

void merge_heap(struct merged_heaps *heaps, struct part_file *file, struct merged_places places,
                bool wanted);

#endif

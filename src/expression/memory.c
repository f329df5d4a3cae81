/* memory.c: variables with given bytes, which replace those of another memory; see memory.h. */
#include "expression/memory.h"

#include <string.h>

static bool read_images(const struct memory *memory, uint64_t address, void *bytes, size_t size) {
    const struct image_memory *these = (const struct image_memory *)memory;
    uint64_t linked = address - memory->bias;
    for (size_t i = 0; i < these->count; i++) {
        const struct image *image = &these->images[i];
        if (linked < image->address || linked - image->address >= image->size)
            continue;
        if (image->size - (linked - image->address) < size)
            return false;
        memcpy(bytes, image->bytes + (linked - image->address), size);
        return true;
    }
    return these->behind && these->behind->read(these->behind, address, bytes, size);
}

struct image_memory image_memory(const struct image *images, size_t count, uint64_t bias,
                                 const struct memory *behind) {
    return (struct image_memory){{read_images, bias}, images, count, behind};
}

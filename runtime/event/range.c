/* range.c: finds the function whose code contains an address.
 *
 * The linker leaves the ranges unsorted. The first search sorts their numbers. All others are
 * binary searches. A signal may arrive at any instruction, and there may be other threads. Each
 * that finds no order makes one, and the first that is complete stays.
 *
 * Not perfect: without memory for the order, all ranges are searched from the first one. */
#include "format/event.h"
#include "runtime/core/sort.h"
#include "runtime/core/syscall.h"
#include "runtime/event/event.h"

static uint32_t *order; /* numbers of ranges, sorted by start, then by size */

static bool is_before(uint32_t left, uint32_t right) {
    const struct quipu_range *a = &quipu_ranges_begin[left], *b = &quipu_ranges_begin[right];
    if (range_start(a) != range_start(b))
        return range_start(a) < range_start(b);
    return a->size < b->size;
}

/* Returns NULL if there is no memory. */
static const uint32_t *sort_ranges(void) {
    uint32_t *found = __atomic_load_n(&order, __ATOMIC_ACQUIRE), *none = NULL;
    uint64_t count = range_count(), size = count * sizeof *found;
    if (found || !count)
        return found;
    uint32_t *made =
        map_memory(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (is_error(made))
        return NULL;
    for (uint64_t i = 0; i < count; i++)
        made[i] = (uint32_t)i;
    quipu_sort(made, count, is_before);
    if (__atomic_compare_exchange_n(&order, &none, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return made;
    SYSTEM_CALL(munmap, made, size, 0, 0, 0, 0);
    return none;
}

static bool holds(const struct quipu_range *range, uint64_t address) {
    return address - range_start(range) < range->size;
}

static const struct quipu_range *search_all(uint64_t address) {
    for (uint64_t i = 0; i < range_count(); i++)
        if (holds(&quipu_ranges_begin[i], address))
            return &quipu_ranges_begin[i];
    return NULL;
}

const struct quipu_range *quipu_find_range(uint64_t address) {
    const uint32_t *numbers = sort_ranges();
    if (!numbers)
        return search_all(address);
    uint64_t low = 0, high = range_count(); /* only the last range that begins at or below ADDRESS
                                               can contain it */
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (range_start(&quipu_ranges_begin[numbers[middle]]) <= address)
            low = middle;
        else
            high = middle;
    }
    const struct quipu_range *range = &quipu_ranges_begin[numbers[low]];
    return holds(range, address) ? range : NULL;
}

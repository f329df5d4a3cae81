/* range.c: finds the function whose code contains an address.
 *
 * The linker leaves the ranges unsorted. The first search sorts their numbers. All others are
 * binary searches. A signal may arrive at any instruction, and there may be other threads. Each
 * that finds no order makes one; all are the same, and the last one stays in use. They outlive the
 * module, which finds one again when it is opened the next time.
 *
 * Not perfect: without memory for the order, all ranges are searched from the first one. */
#include "format/event.h"
#include "runtime/core/sort.h"
#include "runtime/core/syscall.h"
#include "runtime/event/event.h"

/* The ranges of one module in order. Those of the process are a list, whose head is in the file's
 * header. */
struct quipu_order {
    const struct quipu_order *next;
    uint32_t module;    /* its number in the file */
    uint32_t numbers[]; /* of ranges, sorted by start, then by size */
};

static const struct quipu_order *order; /* this module's */

static bool is_before(uint32_t left, uint32_t right) {
    const struct quipu_range *a = &quipu_ranges_begin[left], *b = &quipu_ranges_begin[right];
    if (range_start(a) != range_start(b))
        return range_start(a) < range_start(b);
    return a->size < b->size;
}

/* Returns where the list of the process's orders begins. NULL: modules have no numbers, or the
 * process is a copy without a file of its own, in which the list has addresses of the other one.
 * The kernel has cleared the mark then. No system call tells: a part of the run that 'quipu when'
 * repeats in a copy must make the same ones. */
static uint64_t *orders(void) {
    struct quipu_file *file = __atomic_load_n(&quipu_state.phase, __ATOMIC_ACQUIRE) == PHASE_READY
                                  ? quipu_state.file
                                  : NULL;
    bool own = file && file->mark && *(const volatile uint64_t *)file->mark;
    return own ? &file->orders : NULL;
}

static const struct quipu_order *find_order(void) {
    const uint64_t *head = orders();
    const struct quipu_order *found =
        head ? (const void *)__atomic_load_n(head, __ATOMIC_ACQUIRE) : NULL;
    while (found && found->module != quipu_state.module_number)
        found = found->next;
    return found;
}

/* Others may make the same at the same time: then the list has both. */
static void keep_order(struct quipu_order *made) {
    uint64_t *head = orders();
    if (!head)
        return;
    uint64_t first = __atomic_load_n(head, __ATOMIC_RELAXED);
    do
        made->next = (const void *)first;
    while (!__atomic_compare_exchange_n(head, &first, (uint64_t)made, false, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED));
}

/* Returns NULL if there is no memory. */
static struct quipu_order *make_order(uint64_t count) {
    uint64_t size = sizeof(struct quipu_order) + count * sizeof *order->numbers;
    struct quipu_order *made =
        map_memory(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (is_error(made))
        return NULL;
    made->module = quipu_state.module_number;
    for (uint64_t i = 0; i < count; i++)
        made->numbers[i] = (uint32_t)i;
    quipu_sort(made->numbers, count, is_before);
    keep_order(made);
    return made;
}

/* Returns NULL if there are no ranges, or no memory. */
static const uint32_t *sort_ranges(void) {
    const struct quipu_order *found = __atomic_load_n(&order, __ATOMIC_ACQUIRE);
    uint64_t count = range_count();
    if (!found && count) {
        found = find_order();
        if (!found)
            found = make_order(count);
        __atomic_store_n(&order, found, __ATOMIC_RELEASE);
    }
    return found ? found->numbers : NULL;
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

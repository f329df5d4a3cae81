/* sort.h: numbers of rows put in order, without memory. */
#ifndef QUIPU_RUNTIME_CORE_SORT_H
#define QUIPU_RUNTIME_CORE_SORT_H

#include <stdbool.h>
#include <stdint.h>

/* Sorts NUMBERS[0 .. COUNT) so that none comes before one that IS_BEFORE says it is behind; equal
 * ones in any order.  By a heap: no more memory, and n log n at worst. */
void quipu_sort(uint32_t *numbers, uint64_t count, bool (*is_before)(uint32_t, uint32_t));

#endif

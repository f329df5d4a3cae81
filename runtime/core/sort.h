/* sort.h: sorts numbers of rows, without more memory. */
#ifndef QUIPU_RUNTIME_CORE_SORT_H
#define QUIPU_RUNTIME_CORE_SORT_H

#include <stdbool.h>
#include <stdint.h>

/* Sorts NUMBERS[0 .. COUNT) in the order of IS_BEFORE; equal ones are in any order. It is a heap
 * sort: it needs no more memory, and n log n steps at worst. */
void quipu_sort(uint32_t *numbers, uint64_t count, bool (*is_before)(uint32_t, uint32_t));

#endif

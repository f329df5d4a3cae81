/* sort.c: a heap sort of numbers of rows. */
#include "runtime/core/sort.h"

static void swap(uint32_t *a, uint32_t *b) {
    uint32_t number = *a;
    *a = *b;
    *b = number;
}

/* Makes NUMBERS[ROOT .. COUNT) a heap, whose root is last in the order. Everything below ROOT must
 * be a heap. */
static void sift_down(uint32_t *numbers, uint64_t root, uint64_t count,
                      bool (*is_before)(uint32_t, uint32_t)) {
    for (uint64_t child; (child = 2 * root + 1) < count; root = child) {
        if (child + 1 < count && is_before(numbers[child], numbers[child + 1]))
            child++;
        if (!is_before(numbers[root], numbers[child]))
            return;
        swap(&numbers[root], &numbers[child]);
    }
}

void quipu_sort(uint32_t *numbers, uint64_t count, bool (*is_before)(uint32_t, uint32_t)) {
    for (uint64_t i = count / 2; i-- > 0;)
        sift_down(numbers, i, count, is_before);
    for (uint64_t end = count; end-- > 1;) {
        swap(&numbers[0], &numbers[end]);
        sift_down(numbers, 0, end, is_before);
    }
}

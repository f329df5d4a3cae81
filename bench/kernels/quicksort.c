/* quicksort.c: quicksort with a comparison function, and insertion sort for what is small. */
#include "kernel.h"

#include <stdio.h>

enum {
    COUNT = 200000,
    SMALL = 12
};

typedef int compare_function(const void *a, const void *b);

struct record {
    uint32_t key, value;
};

static struct record records[COUNT];

static int compare_records(const void *a, const void *b) {
    const struct record *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->value < y->value ? -1 : x->value > y->value;
}

static int compare_reversed(const void *a, const void *b) {
    return compare_records(b, a);
}

static void swap(struct record *a, struct record *b) {
    struct record t = *a;
    *a = *b;
    *b = t;
}

static void insertion_sort(struct record *r, long n, compare_function *compare) {
    for (long i = 1; i < n; i++) {
        struct record held = r[i];
        long j = i;
        for (; j > 0 && compare(&held, &r[j - 1]) < 0; j--)
            r[j] = r[j - 1];
        r[j] = held;
    }
}

/* Hoare's partition about the middle one; the smaller part by recursion. */
static void sort(struct record *r, long n, compare_function *compare) {
    while (n > SMALL) {
        struct record pivot = r[n / 2];
        long i = 0, j = n - 1;
        while (i <= j) {
            while (compare(&r[i], &pivot) < 0)
                i++;
            while (compare(&pivot, &r[j]) < 0)
                j--;
            if (i <= j)
                swap(&r[i++], &r[j--]);
        }
        if (j + 1 < n - i) {
            sort(r, j + 1, compare);
            r += i;
            n -= i;
        } else {
            sort(r + i, n - i, compare);
            n = j + 1;
        }
    }
    insertion_sort(r, n, compare);
}

int main(int argc, char **argv) {
    uint64_t state = 4;
    uint32_t checksum = 0;
    for (unsigned round = kernel_rounds(argc, argv, 40); round; round--) {
        for (unsigned i = 0; i < COUNT; i++)
            records[i] = (struct record){next_random(&state) % 50000, i};
        sort(records, COUNT, round & 1 ? compare_records : compare_reversed);
        for (unsigned i = 0; i < COUNT; i += 100)
            checksum = checksum * 31 + records[i].key + records[i].value;
    }
    printf("%u\n", checksum);
    return 0;
}

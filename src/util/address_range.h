/* address_range.h: parts of memory. */
#ifndef QUIPU_UTIL_ADDRESS_RANGE_H
#define QUIPU_UTIL_ADDRESS_RANGE_H

#include "util/vector.h"

#include <stdint.h>

/* [start, end) */
struct address_range {
    uint64_t start, end;
};

typedef VECTOR(struct address_range) address_range_list;

#endif

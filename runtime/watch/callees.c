/* callees.c: the functions of the C library that the runtime knows (format/watch_callees.h), and
 * what a call of each may write. A row's number is that of the function in the list. */
#include "runtime/watch/watch.h"

#include "format/watch_callees.h"

#include <signal.h>
#include <stdio.h>
#include <sys/uio.h>

#define RANGES_OF(name, first, second, third) {first, second, third},
const uint32_t quipu_watch_callee_rows[][CALLEE_RANGES] = {QUIPU_CALLEES(RANGES_OF)};

/* Rows that entry.S handles alone: they have no ranges, and nothing else to report. */
#define IS_PLAIN(extent)                                                                           \
    (!(extent) || ((extent) >> 4 & 15) == QUIPU_EXTENT_ANY ||                                      \
     (((extent) >> 4 & 15) == QUIPU_EXTENT_MORE &&                                                 \
      (((extent) >> 16 & 0xfff) == QUIPU_MORE_LIBRARY ||                                           \
       ((extent) >> 16 & 0xfff) == QUIPU_MORE_FORMAT)))
#define PLAIN_ROW(name, a, b, c) IS_PLAIN(a) && IS_PLAIN(b) && IS_PLAIN(c),
const uint8_t quipu_watch_plain_rows[] = {QUIPU_CALLEES(PLAIN_ROW)};
const uint32_t quipu_watch_plain_count = sizeof quipu_watch_plain_rows;

bool quipu_watch_is_allocator(uint32_t callee) {
    for (unsigned i = 0; i < CALLEE_RANGES; i++)
        if (quipu_extent_kind(quipu_watch_callee_rows[callee][i]) >= QUIPU_EXTENT_BLOCK &&
            quipu_extent_kind(quipu_watch_callee_rows[callee][i]) <= QUIPU_EXTENT_MOVED)
            return true;
    return false;
}

bool quipu_watch_maps(uint32_t callee) {
    bool pages = false;
    for (unsigned i = 0; i < CALLEE_RANGES; i++) {
        uint32_t extent = quipu_watch_callee_rows[callee][i];
        pages |= quipu_extent_kind(extent) == QUIPU_EXTENT_MORE &&
                 quipu_extent_constant(extent) == QUIPU_MORE_PAGES;
    }
    return pages && quipu_watch_is_allocator(callee);
}

bool quipu_watch_is_unknown(uint32_t callee) {
    uint32_t first = quipu_watch_callee_rows[callee][0];
    return !callee || quipu_extent_kind(first) == QUIPU_EXTENT_ANY ||
           quipu_extent_kind(first) == QUIPU_EXTENT_MORE || first & QUIPU_EXTENT_WITHIN;
}

bool quipu_watch_knows_ranges(uint32_t callee) {
    for (unsigned i = 0; i < CALLEE_RANGES; i++)
        if (quipu_is_range(quipu_watch_callee_rows[callee][i]) &&
            quipu_watch_callee_rows[callee][i] & QUIPU_EXTENT_WITHIN &&
            !(quipu_watch_callee_rows[callee][i] & QUIPU_EXTENT_CHANGED))
            return false;
    return true;
}

enum watch_reach quipu_watch_reach(uint32_t row) {
    uint32_t callee = row & ~QUIPU_CALLEE_LOOKS;
    if (row != callee || !callee || callee >= quipu_watch_plain_count ||
        quipu_extent_kind(quipu_watch_callee_rows[callee][0]) == QUIPU_EXTENT_ANY)
        return WATCH_REACHES_ALL;
    return quipu_watch_is_unknown(callee) || quipu_watch_is_allocator(callee)
               ? WATCH_REACHES_LIBRARY
               : WATCH_REACHES_RANGES;
}

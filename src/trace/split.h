/* split.h: a block's records taken apart into streams of like bytes, which compress better and
 * faster; doc/format.md has the layout. */
#ifndef QUIPU_TRACE_SPLIT_H
#define QUIPU_TRACE_SPLIT_H

#include "format/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SPLIT_STREAMS = 14,
    SPLIT_MAX = QUIPU_TRACE_CONTENTS_MAX + SPLIT_STREAMS * (int)sizeof(uint32_t)
};

/* Takes apart the CONTENTS of CHUNK, of SIZE bytes. What is not a complete record, and all behind
 * it, stays as it is. OUT has room for SPLIT_MAX bytes. Returns how many there are. */
size_t split_records(const struct quipu_trace_chunk *chunk, const uint8_t *contents, size_t size,
                     uint8_t *out);

/* Puts the SIZE bytes at SPLIT together again. OUT has room for QUIPU_TRACE_CONTENTS_MAX bytes.
 * Sets *JOINED to their number. Returns false if they are corrupt. */
bool join_records(const uint8_t *split, size_t size, uint8_t *out, size_t *joined);

#endif

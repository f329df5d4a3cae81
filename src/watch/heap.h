/* heap.h: blocks of the heap, selected by the line that allocates them.
 *
 *     heap:FILE:LINE           all bytes of each block
 *     heap:FILE:LINE[4]        one byte, counted from 0
 *     heap:FILE:LINE[0..15]    those bytes, as far as a block has them */
#ifndef QUIPU_WATCH_HEAP_H
#define QUIPU_WATCH_HEAP_H

#include "watch/request.h"

/* Whether TEXT begins like that form, with or without a line. */
bool begins_blocks(const char *text);

/* Whether TEXT has that form. */
bool names_blocks(const char *text);

/* Reads it. Returns NULL, or an error message, with its position in TEXT in WHERE. */
const char *read_blocks(struct arena *arena, const struct binary *binary, const char *text,
                        struct watched *watched, size_t *where);

#endif

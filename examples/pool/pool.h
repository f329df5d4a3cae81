/* pool.h: blocks of one size out of one array.  The bookkeeping stands in front of the array, and
 * nobody but pool.c has any business there. */
#ifndef POOL_H
#define POOL_H

#include <stddef.h>

enum {
    POOL_BLOCKS = 64,
    POOL_BLOCK_SIZE = 48,
};

/* NULL: all are in use. */
void *pool_take(void);
void pool_give(void *block);
/* How many are in use, by the bookkeeping. */
size_t pool_used(void);

#endif

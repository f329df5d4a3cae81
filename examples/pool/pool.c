/* pool.c: see pool.h. */
#include "pool.h"

static struct {
    char blocks[POOL_BLOCKS][POOL_BLOCK_SIZE];
    struct {
        unsigned char next[POOL_BLOCKS]; /* the free block behind this one */
        unsigned char first;
        size_t used;
    } books;
} pool;

static void begin(void) {
    static int begun;
    for (int i = 0; i < POOL_BLOCKS && !begun; i++)
        pool.books.next[i] = (unsigned char)(i + 1);
    begun = 1;
}

void *pool_take(void) {
    begin();
    if (pool.books.first >= POOL_BLOCKS)
        return NULL;
    unsigned char block = pool.books.first;
    pool.books.first = pool.books.next[block];
    pool.books.used++;
    return pool.blocks[block];
}

void pool_give(void *block) {
    unsigned char index = (unsigned char)(((char *)block - pool.blocks[0]) / POOL_BLOCK_SIZE);
    pool.books.next[index] = pool.books.first;
    pool.books.first = index;
    pool.books.used--;
}

size_t pool_used(void) {
    return pool.books.used;
}

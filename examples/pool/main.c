/* main.c: keeps names in blocks of a pool.  A name that gets longer than its block, the last one,
 * ends in the pool's bookkeeping; some time later the pool hands out blocks that are in use. */
#include "pool.h"

#include <stdio.h>
#include <string.h>

static void keep_name(char *block, const char *name) {
    for (size_t i = 0; (block[i] = name[i]); i++)
        ;
}

int main(void) {
    char *names[POOL_BLOCKS];
    int lost = 0;
    for (int i = 0; i < POOL_BLOCKS; i++)
        keep_name(names[i] = pool_take(), "name");
    for (int i = 0; i < 16; i++)
        pool_give(names[i]);
    keep_name(names[POOL_BLOCKS - 1],
              "a name that somebody has thought of who was paid by the letter");
    for (int i = 0; i < 16 && (names[i] = pool_take()); i++)
        keep_name(names[i], "another name");
    for (int i = 16; i < POOL_BLOCKS - 1; i++)
        lost += strcmp(names[i], "name") != 0;
    printf("%zu blocks in use, %d names lost\n", pool_used(), lost);
    return lost > 0;
}

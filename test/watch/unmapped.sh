#!/bin/bash
# The program unmaps a part of a watched block, maps it anew, or moves the block with mremap: the rest
# is still watched, under its number. Bytes keep their index in the block.
# timeout: 60
. "$(dirname "$0")/lib.bash"
cat >program.c <<'EOT'
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>
enum { SIZE = 1 << 20, WORDS = SIZE / 8, PRIVATE = MAP_PRIVATE | MAP_ANONYMOUS };
volatile long *block, *other;
#define map(at, size, protection, flags) mmap(at, size, protection, PRIVATE | (flags), -1, 0)
int main(int argc, char **argv) {
    int how = argc > 1 ? atoi(argv[1]) : 0, both = PROT_READ | PROT_WRITE;
    block = map(NULL, SIZE, both, 0); // the block
    if (how == 1)
        other = map((void *)block, SIZE / 2, both, MAP_FIXED);
    if (how == 2)
        other = map((void *)(block + WORDS / 4), SIZE / 4, both, MAP_FIXED);
    if (how == 3)
        munmap((void *)block, SIZE / 2);
    if (how == 4)
        munmap((void *)(block + WORDS / 4), SIZE / 4 - 5);
    if (how == 5)
        block = mremap((void *)block, SIZE, 4 * SIZE, MREMAP_MAYMOVE);
    if (how == 6)
        block = mremap((void *)block, SIZE, SIZE, MREMAP_MAYMOVE | MREMAP_FIXED,
                       map(NULL, SIZE, PROT_NONE, 0));
    if (how == 7) /* fails */
        munmap((char *)block + 1, SIZE);
    block[WORDS - 1] = 6; // the end
    if (other)
        other[2] = 3; /* not of the block */
    if (how != 1 && how != 3)
        block[1] = 4; // the begin
    munmap((void *)block, SIZE);
    block = map((void *)block, SIZE, both, MAP_FIXED); /* another one */
    block[3] = 5;
    return 0;
}
EOT
for level in -O0 -O2; do
    quipu cc --quipu=watch $level -g program.c -o program || fail "cannot build"
    for how in 0 1 2 3 4 5 6 7; do
        watches 0 --heap program.c:9 -- ./program $how
        grep -q 'block 1 of program.c:9\[1048568\.\.1048575\]  *0x0 -> 0x6 ' hits ||
            fail "$level, $how: the write at the end is lost: $(cat hits)"
        if [[ $how != [13] ]]; then
            grep -q 'block 1 of program.c:9\[8\.\.15\]  *0x0 -> 0x4 ' hits ||
                fail "$level, $how: the write at the begin is lost: $(cat hits)"
        fi
        ! grep -q -- '-> 0x[35] ' hits || fail "$level, $how: memory of others: $(cat hits)"
        watches 0 --heap 'program.c:9[1048568..1048575]' -- ./program $how
        [[ $(grep -c -- '-> 0x6 ' hits) = 1 && $(grep -c . hits) = 1 ]] ||
            fail "$level, $how: a slice: $(cat hits)"
    done
done

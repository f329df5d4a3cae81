#!/bin/bash
# A region in the heap that brk made: what the C library writes there is told at the call that did,
# also where that ends a function; and where the break goes back, or the program has hidden the page,
# and the region cannot be read any more, nothing is read.
. "$(dirname "$0")/../bad/lib.bash"

cat >program.c <<'END'
#include <quipu.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    SIZE = 100000,
    AT = 50000,
};

static volatile int writes;

static void count_write(const struct quipu_write *write, void *argument) {
    (void)argument;
    writes += write->size > 0;
}

#define EXPECT(count, what) \
    if (writes != (count)) \
        return fprintf(stderr, "%s: %d writes, not %d\n", what, writes, count), 1

/* The compiler has them end with a jump. */
__attribute__((noipa)) static void *again(void *block, size_t size) {
    return realloc(block, size);
}

__attribute__((noipa)) static int put(int c, FILE *file) {
    return putc(c, file);
}

__attribute__((noipa)) static void give_back(void *block) {
    free(block);
}

/* What is allocated where a freed region was is the allocator's, who writes its lists there. */
static int reuse(void) {
    char *block = malloc(200);
    int64_t region = quipu_watch_create(block, 16, count_write, NULL);
    int before = writes;
    if (region < 0)
        return 1;
    give_back(block);
    if (writes == before)
        return fprintf(stderr, "free wrote its list, and nothing is told\n"), 1;
    return quipu_watch_delete(region) != 0;
}

int main(void) {
    static char buffer[BUFSIZ];
    FILE *file = fopen("out", "w+");
    if (!file || setvbuf(file, buffer, _IOFBF, sizeof buffer) || reuse())
        return 1;
    puts("running"); /* its buffer is made in front of the block */
    writes = 0;
    char *block = sbrk(2 * SIZE);
    if (block == (void *)-1 || quipu_watch_create(block + AT, 8, count_write, NULL) < 0)
        return 2;
    for (int i = 0; i < 100; i++)
        put('a' + i % 26, file);
    free(malloc(100));
    EXPECT(0, "calls that write elsewhere");
    rewind(file);
    if (fread(block + AT - 4, 1, 8, file) != 8)
        return 3;
    EXPECT(1, "fread");
    memset(block, 0, SIZE);
    EXPECT(2, "memset");
    int before = writes;
    if (sbrk(-2 * SIZE) == (void *)-1)
        return 4;
    for (int i = 0; i < 100; i++) /* the region cannot be read now */
        put('a' + i % 26, file);
    puts("still running");
    char *other = again(malloc(10), 20);
    free(other);
    EXPECT(before, "calls while the break is in front");
    if (sbrk(2 * SIZE) == (void *)-1)
        return 5;
    *(volatile char *)&block[AT] = 7;
    EXPECT(before + 1, "a store where the break is back");
    return 0;
}
END
cat >hidden.c <<'END'
#include <quipu.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    PAGE = 4096,
};

static volatile int writes;

static void count_write(const struct quipu_write *write, void *argument) {
    (void)argument;
    writes += write->size > 0;
}

int main(void) {
    char *room = sbrk(0);
    if (sbrk(PAGE - (long)room % PAGE) == (void *)-1 || (room = sbrk(2 * PAGE)) == (void *)-1 ||
        mprotect(room, PAGE, PROT_NONE))
        return 1;
    if (quipu_watch_create(room + 8, 8, count_write, NULL) < 0)
        return 2;
    puts("hidden");
    free(malloc(100));
    if (writes || mprotect(room, PAGE, PROT_READ | PROT_WRITE))
        return 3;
    *(volatile char *)&room[8] = 7;
    puts("there");
    return writes != 1;
}
END
flags="-O2 -fno-builtin-putc -I$(dirname "$quipu")/../include"
for more in '' -O0 -static '-fno-pie -no-pie' -fno-plt -ffixed-r11; do
    quipu cc --quipu=watch $flags $more program.c -o program 2>messages ||
        fail "cannot build with '$more': $(cat messages)"
    ends 0 ./program
    quipu cc --quipu=watch $flags $more hidden.c -o hidden 2>messages ||
        fail "cannot build with '$more': $(cat messages)"
    ends 0 ./hidden
done

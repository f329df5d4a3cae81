#!/bin/bash
# With more regions than are compared behind each call, what printf and its like write by formats
# without %n is told at the call that did; so is what else is told by a range and compared.  A
# region in the heap, which the C library may write for itself, changes nothing.
. "$(dirname "$0")/../bad/lib.bash"

cat >program.c <<'END'
#include <quipu.h>
#include <regex.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    REGIONS = 2000,
    SIZE = 8,
};

static char cells[REGIONS][SIZE];
static int writes;
static char *last;

static void count_write(const struct quipu_write *write, void *argument) {
    writes += memcmp(write->old_bytes, write->new_bytes, write->told) != 0;
    last = argument;
}

#define EXPECT(count, where, what) \
    if (writes != (count) || last != (where)) \
        return fprintf(stderr, "%s %d: %d writes, not %d; the last to cell %td, not %td\n", what, i, \
                       writes, count, (last - *cells) / SIZE, ((where) - *cells) / SIZE), 1; \
    else \
        writes = 0

static void print(char *to, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(to, 4, format, list);
    va_end(list);
}

static int write_all(void) {
    char made[8];
    sprintf(made, "%%%c", 'd');
    regex_t expression;
    if (regcomp(&expression, "a(b*)", REG_EXTENDED))
        return 1;
    cells[REGIONS - 1][0] = 'z';
    writes = 0;
    for (int i = 0; i < REGIONS - 1; i++) {
        sprintf(cells[i], "%d", i % 7 + 1);
        EXPECT(1, cells[i], "sprintf");
        snprintf(cells[i] + 1, 100, "%c%d", 0, i % 5 + 1);
        EXPECT(1, cells[i], "snprintf");
        sprintf(cells[i] + 1, "%c%.2d%.0s", 0, i % 5 + 2, "");
        EXPECT(1, cells[i], "behind a NUL");
        sprintf(cells[i], "%s", "");
        EXPECT(1, cells[i], "a NUL alone");
        regexec(&expression, "xxabb", 1, (regmatch_t *)cells[i], 0);
        EXPECT(1, cells[i], "regexec");
        sprintf(cells[i] + 6, "%d", 12);
        EXPECT(2, cells[i + 1], "two");
        snprintf(cells[i], 8, made, i % 9 + 1);
        EXPECT(1, cells[i], "a format that is made");
        print(cells[i] + 1, made, i % 9);
        EXPECT(1, cells[i], "a list of arguments");
    }
    regfree(&expression);
    return 0;
}

int main(void) {
    for (int i = 0; i < REGIONS; i++) {
        strcpy(cells[i], "zzzzzzz");
        if (quipu_watch_create(cells[i], SIZE, count_write, cells[i]) < 0)
            return 1;
    }
    if (write_all())
        return 1;
    char *block = malloc(100);
    if (quipu_watch_create(block, 16, count_write, block) < 0)
        return 1;
    return write_all();
}
END
for flags in -O2 -O0 -D_FORTIFY_SOURCE=0; do
    quipu cc --quipu=watch -g $flags -w -fno-builtin-sprintf -fno-builtin-snprintf program.c -o program ||
        fail "cannot build with $flags"
    ./program || fail "with $flags"
done

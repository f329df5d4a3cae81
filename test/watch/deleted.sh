#!/bin/bash
# What a library has written before a region is deleted is reported to its handler first: with more
# than 256 regions, most calls are not followed by a comparison. A handler may delete the region.
# timeout: 60
. "$(dirname "$0")/lib.bash"
cat >library.c <<'EOT'
void fill(char *p, int n) {
    for (int i = 0; i < n; i++)
        p[i]++;
}
EOT
cat >program.c <<'EOT'
#include <quipu.h>
#include <stdio.h>
#include <stdlib.h>
enum { TIMES = 200 };
void fill(char *, int);
static char watched[64];
static unsigned reports;
static int64_t once;
static void count(const struct quipu_write *write, void *nothing) {
    reports++;
}
static void delete_once(const struct quipu_write *write, void *nothing) {
    reports++;
    if (quipu_watch_delete(once) != 0)
        abort();
}
static __attribute__((noipa)) void round_of(void (*handler)(const struct quipu_write *, void *)) {
    once = quipu_watch_create(watched, sizeof watched, handler, 0);
    fill(watched, 48);
    int error = quipu_watch_delete(once);
    if (error != 0 && handler == count)
        abort();
}
int main(int argc, char **argv) {
    char *others = calloc(argc, 1 << 16);
    int64_t ids[400];
    for (int i = 0; i < atoi(argv[1]); i++)
        ids[i] = quipu_watch_create(others + i * 64, 8, count, 0);
    for (int i = 0; i < TIMES; i++)
        round_of(i % 2 ? count : delete_once);
    for (int i = 0; i < atoi(argv[1]); i++)
        if (quipu_watch_delete(ids[i]) != 0)
            abort();
    printf("%u\n", reports);
    return quipu_watch_delete(once) == 0;
}
EOT
gcc -O1 -c library.c || fail "cannot build the library"
for level in -O0 -O2; do
    quipu cc --quipu=watch $level -g program.c library.o -o program || fail "cannot build"
    for others in 0 400; do
        timeout 20 ./program $others >output || fail "$level, $others other regions: it failed"
        [[ $(cat output) -eq 200 ]] || fail "$level, $others other regions: $(cat output) reports, not 200"
    done
done

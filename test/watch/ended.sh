#!/bin/bash
# What a library has written is told although the block is freed or moved, the local's function
# returns or the thread ends before the next comparison: with more than 256 regions most calls are not
# followed by one.
# timeout: 120
. "$(dirname "$0")/lib.bash"

cat >library.c <<'EOT'
void fill(char *p, int n) {
    for (int i = 0; i < n; i++)
        p[i] = 'A';
}
EOT
cat >program.c <<'EOT'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum { TIMES = 100 };
void fill(char *, int);
static _Thread_local char own[64];
static void *kept(size_t n) { return calloc(1, n); }
static void *taken(size_t n) { return calloc(1, n); }

static __attribute__((noipa)) int frees(int i) {
    char *block = taken(100 + i);
    fill(block, 64);
    free(block);
    return i;
}
static __attribute__((noipa)) int moves(int i) {
    char *block = taken(100 + i);
    fill(block, 64);
    free(realloc(block, 1 << 20));
    return i;
}
static __attribute__((noipa)) int returns(int i) {
    char local[64];
    memset(local, 0, sizeof local);
    fill(local, 60 + i % 2);
    return local[i % 60];
}
__attribute__((noipa)) void jump(char *s, int n) { fill(s, n); }
static __attribute__((noipa)) int wraps(int i) {
    char other[64];
    memset(other, 0, sizeof other);
    jump(other, 60 + i % 2);
    return other[i % 60];
}
static void *run(void *nothing) {
    fill(own, 64);
    return nothing;
}
static __attribute__((noipa)) int threads(int i) {
    pthread_t thread;
    pthread_create(&thread, 0, run, &i);
    pthread_join(thread, 0);
    return i;
}
int main(int argc, char **argv) {
    static const struct { const char *name; int (*function)(int); } ways[] = {
        {"frees", frees}, {"moves", moves}, {"returns", returns}, {"wraps", wraps},
        {"threads", threads}};
    char *blocks[1000];
    int count = atoi(argv[2]);
    for (int i = 0; i < count; i++)
        blocks[i] = kept(40);
    for (int way = 0; argc && way < 5; way++)
        for (int i = 0; strcmp(argv[1], ways[way].name) == 0 && i < TIMES; i++)
            ways[way].function(i);
    for (int i = 0; i < count; i++)
        free(blocks[i]);
    return 0;
}
EOT
kept=heap:program.c:$(grep -n '\*kept(' program.c | cut -d: -f1)
taken=heap:program.c:$(grep -n '\*taken(' program.c | cut -d: -f1)

# tries WAY EXPRESSION: each of the calls' changes is told, with few regions and with many.
tries() {
    local count
    for count in 1 400; do
        watches 0 --format=json -e "$kept" -e "$2" -- ./program "$1" $count
        python3 - <<'END' || fail "$flags, $1 with $count other regions: see above"
import json, sys
changes = [hit for hit in map(json.loads, open('hits')) if hit['cause'] == 'change']
wrong = [hit for hit in changes if not hit['new_bytes'].startswith('41' * 60) or
         not hit['old_bytes'].startswith('00' * 60)]
if len(changes) != 100 or wrong:
    sys.exit(f'{len(changes)} changes; wrong: {wrong[:2]}')
END
    done
}
gcc -O1 -c library.c || fail "cannot build the library"
while read -r compiler flags; do
    # shellcheck disable=SC2086
    quipu $compiler --quipu=watch $flags -g -pthread program.c library.o -o program 2>said ||
        fail "cannot build: $(cat said)"
    tries frees "$taken"
    tries moves "$taken"
    tries returns returns::local
    tries wraps wraps::other
    tries threads own
done <<'EOT'
cc -O0
cc -O2
cc -O2 -fno-omit-frame-pointer
cc -O2 -fno-asynchronous-unwind-tables
EOT

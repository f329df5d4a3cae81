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

static __attribute__((noipa)) void frees(int i) {
    char *block = taken(100 + i);
    fill(block, 64);
    free(block);
}
static __attribute__((noipa)) void moves(int i) {
    char *block = taken(100 + i);
    fill(block, 64);
    free(realloc(block, 1 << 20));
}
static __attribute__((noipa)) void returns(int i) {
    char local[64];
    memset(local, 0, sizeof local);
    fill(local, 60 + i % 2);
}
static void *run(void *nothing) {
    fill(own, 64);
    return nothing;
}
static __attribute__((noipa)) void threads(int i) {
    pthread_t thread;
    pthread_create(&thread, 0, run, &i);
    pthread_join(thread, 0);
}
int main(int argc, char **argv) {
    static const struct { const char *name; void (*function)(int); } ways[] = {
        {"frees", frees}, {"moves", moves}, {"returns", returns}, {"threads", threads}};
    char *blocks[1000];
    int count = atoi(argv[2]);
    for (int i = 0; i < count; i++)
        blocks[i] = kept(40);
    for (int way = 0; argc && way < 4; way++)
        for (int i = 0; strcmp(argv[1], ways[way].name) == 0 && i < TIMES; i++)
            ways[way].function(i);
    for (int i = 0; i < count; i++)
        free(blocks[i]);
    return 0;
}
EOT
gcc -O1 -c library.c && quipu cc --quipu=watch -O1 -g -pthread program.c library.o -o program ||
    fail "cannot build"
kept=heap:program.c:$(grep -n '\*kept(' program.c | cut -d: -f1)
taken=heap:program.c:$(grep -n '\*taken(' program.c | cut -d: -f1)

# tries WAY TIMES EXPRESSION: each of the calls' changes is told, with few regions and with many.
tries() {
    local count
    for count in 1 400; do
        watches 0 --format=json -e "$kept" -e "$3" -- ./program "$1" $count
        python3 - "$2" <<'END' || fail "$1 with $count other regions: see above"
import json, sys
changes = [hit for hit in map(json.loads, open('hits')) if hit['cause'] == 'change']
wrong = [hit for hit in changes if not hit['new_bytes'].startswith('41' * 60) or
         not hit['old_bytes'].startswith('00' * 60)]
if len(changes) != int(sys.argv[1]) or wrong:
    sys.exit(f'{len(changes)} changes; wrong: {wrong[:2]}')
END
    done
}
tries frees 100 "$taken"
tries moves 100 "$taken"
tries returns 100 returns::local
tries threads 100 own

#!/bin/bash
# quipu cache --by=object --processors: threads come in one order, so a block that one has freed is not known
# any more, and one that another thread allocates is known to all.
. "$(dirname "$0")/lib.bash"

cat >program.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static char *volatile shared;
static char *volatile again;
static void *allocate(void *nothing) {
    shared = malloc(30000);
    return nothing;
}
int main(void) {
    pthread_t thread;
    void *got;
    char *first = malloc(5000);
    for (int i = 0; i < 100; i++)
        first[i] = 1;
    pthread_create(&thread, NULL, allocate, NULL);
    pthread_join(thread, NULL);
    for (int i = 0; i < 300; i++)
        shared[i] = 1;
    free(first);
    if (posix_memalign(&got, 16, 5000)) /* it is not known what that allocates */
        return 1;
    again = got;
    for (int i = 0; i < 700; i++)
        again[i] = 1;
    puts(got == first ? "same" : "other");
    return 0;
}
C
"$quipu" cc --quipu=trace -O1 -g -fno-builtin program.c -o program || fail "cannot build"
[[ $("$quipu" trace -o t -- ./program) == same ]] || { echo "skipped: the allocator gives another block"; exit 77; }
writes() {
    "$quipu" cache --by=object --format=json "${@:2}" t | python3 -c '
import json, sys
print(sum(row["writes"] for row in json.load(sys.stdin)["objects"] if row["object"].startswith(sys.argv[1])))' "$1"
}
[[ $(writes 'heap block of program.c:13 (main)' --processors=2) == 100 ]] || fail "a freed block is still known"
[[ $(writes 'heap block of program.c:7 (allocate)' --processors=2) == 300 ]] || fail "another thread's block is not known"
# Without an order of threads neither is, as limits.md says.
[[ $(writes 'heap block of program.c:13 (main)') == 800 ]] || fail "threads have an order"

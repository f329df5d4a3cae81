#!/bin/bash
# Code with -fsplit-stack, whose calls of __morestack return behind the instruction that follows, and
# of which gold rewrites the first instructions: it runs in every mode, on stacks that are split.
set -uo pipefail
. "$(dirname "$0")/../needs.sh.inc"
unset QUIPU_DATA

fail() {
    printf '%s\n' "$(basename "$0"): $*"
    exit 1
}

cat >split.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define WHOLE __attribute__((no_split_stack, noinline))

static WHOLE int sign(int number) {
    return number > 0 ? 1 : number < 0 ? -1 : 0;
}

static int compare(const void *a, const void *b) {
    return sign(*(const int *)a - *(const int *)b);
}

static long descend(long depth) {
    volatile char room[2000];
    room[depth % 2000] = 1;
    return depth ? descend(depth - 1) + room[depth % 2000] : 0;
}

static void *run(void *depth) {
    char text[200];
    int list[] = {3, 2, 1, 5, 4};
    qsort(list, 5, sizeof *list, compare);
    snprintf(text, sizeof text, "%d%d%d %f", list[0], list[1], list[4], (double)list[2]);
    puts(text);
    return (void *)descend((long)depth);
}

int main(void) {
    pthread_t thread;
    pthread_attr_t small;
    void *result;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    pthread_create(&thread, &small, run, (void *)5000);
    pthread_join(thread, &result);
    printf("%ld\n", (long)result);
    return 0;
}
END

for linker in bfd gold; do
    has "ld.$linker" || continue
    flags=(-O2 -fsplit-stack -pthread "-fuse-ld=$linker")
    gcc "${flags[@]}" split.c -o plain || fail "cannot be built"
    ./plain >plain.out || fail "plain: status $?"
    for mode in count event moment calls watch; do
        quipu cc --quipu=$mode "${flags[@]}" split.c -o $mode >messages 2>&1 ||
            fail "$mode, $linker: $(cat messages)"
        ./$mode >$mode.out || fail "$mode, $linker: status $?"
        cmp plain.out $mode.out || fail "$mode, $linker: $(cat $mode.out)"
    done
    quipu info count >told
    grep -q 'descend: its stack is split' told || fail "$linker: not told: $(cat told)"
    ! grep 'sign: ' told || fail "$linker: what splits no stack is not counted"
done

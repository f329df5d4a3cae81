#!/bin/bash
# A copy of the process has the memory that a fork clears or leaves out: programs that recognize
# forked children by such pages, and the runtime, which does so in builds with calls, go the same way
# in a copy.
. "$(dirname "$0")/../bad/lib.bash"
cat >program.c <<'EOT'
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
volatile long sum;
volatile int done, forked, *page;
__attribute__((noinline)) static void work(long n) {
    for (long i = 0; i < n; i++)
        sum += i ^ sum;
}
/* program ADVICE SHARING */
int main(int argc, char **argv) {
    const size_t size = 3 * 4096;
    if (argc != 3)
        return 1;
    page = mmap(0, size, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | atoi(argv[2]), -1, 0);
    if (madvise((void *)page, size, atoi(argv[1])) != 0)
        return 1;
    page[2047] = 1;
    mprotect((void *)page, size, PROT_READ);
    for (int i = 0; i < 600; i++) {
        work(10000);
        if (page[2047] != 1) {
            forked = 1;
            work(777);
        }
        if (i == 450)
            done = 1;
    }
    return forked;
}
EOT
declare -A number=([normal]=0 [dont_fork]=10 [wipe_on_fork]=18 [shared]=1 [private]=2)
for mode in moment calls,moment; do
    quipu cc --quipu=$mode -O1 -g program.c -o program || fail "$mode: cannot build"
    expected=
    while read -r advice sharing; do
        what="$mode, $advice, $sharing"
        for _ in 1 2; do
            ends 0 quipu when 'done == 1 || forked' -- ./program "${number[$advice]}" "${number[$sharing]}"
            moment=$(grep '^  moment' output) || fail "$what: $(cat output messages)"
            grep -q '^  forked  *0$' output || fail "$what: $(cat output)"
            [[ ${expected:=$moment} == "$moment" ]] || fail "$what: $moment, and not $expected"
        done
    done <<EOT
normal private
wipe_on_fork private
dont_fork private
dont_fork shared
EOT
done

#!/bin/bash
# cache_parts.sh: quipu cache and quipu reuse, in parts that are merged, and by several jobs, print what one
# process prints, byte by byte: with threads, three levels that depend on each other or do not, small and fully associative caches, windows.
# By GNU parallel, too. Files of parts that are damaged, missing or of something else are errors.
# timeout: 600
. "$(dirname "$0")/lib.bash"

cat >program.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define OWN __attribute__((noinline)) static
struct node {
    struct node *next;
    unsigned value;
};
static struct node nodes[1 << 13];
static unsigned table[1 << 16];
static char text[1 << 14];
/* Each step is a value in the records: they fill many chunks. */
OWN unsigned follow(const struct node *node, int count) {
    unsigned sum = 0;
    for (; count > 0; count--) {
        sum += node->value;
        node = node->next;
    }
    return sum;
}
OWN unsigned scan(unsigned step) {
    unsigned sum = 0;
    for (unsigned i = 0; i < 1 << 16; i += step)
        sum += table[i]++;
    return sum;
}
static int compare(const void *a, const void *b) {
    unsigned first = *(const unsigned *)a, second = *(const unsigned *)b;
    return (first > second) - (first < second);
}
OWN unsigned descend(unsigned x, int depth) {
    unsigned before = follow(&nodes[x % (1 << 13)], 30);
    return depth ? descend(x + before, depth - 1) + before : scan(64);
}
OWN unsigned work(unsigned x, int rounds) {
    unsigned numbers[200];
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < 200; i++)
            numbers[i] = x = x * 1103515245 + 12345;
        qsort(numbers, 200, sizeof *numbers, compare);
        x += follow(&nodes[x % (1 << 13)], 12000) + scan(1 + x % 40) + descend(x, 60);
        memset(text, (int)x, sizeof text);
        memcpy(text + (x & 1023), text + 8000, 5000);
    }
    return x;
}
static void *run(void *argument) {
    return (void *)(size_t)work(3, *(int *)argument);
}
int main(int argc, char **argv) {
    pthread_t thread;
    int rounds = argc > 1 ? atoi(argv[1]) : 45, fewer = rounds / 3;
    for (unsigned i = 0, at = 0; i < 1 << 13; i++) {
        unsigned next = (at * 5 + 1) % (1 << 13); /* a full period */
        nodes[at] = (struct node){&nodes[next], i};
        at = next;
    }
    pthread_create(&thread, NULL, run, &fewer);
    unsigned x = work(7, rounds);
    pthread_join(thread, NULL);
    printf("%u\n", x);
    return 0;
}
C
"$quipu" cc --quipu=trace -O2 -g -pthread program.c -o program || fail "cannot build"
"$quipu" trace -o t -- ./program >/dev/null || fail "cannot record"

# parts COMMAND COUNT OPTIONS...: makes the files 1.part, 2.part, ...
parts() {
    local command=$1 count=$2
    shift 2
    rm -f ./*.part
    for part in $(seq "$count"); do
        "$quipu" "$command" --part="$part/$count" -o "$part.part" "$@" t || fail "$command $*: part $part/$count"
    done
}

# merged COMMAND COUNT [OPTION]: the merged parts print what is in the file expected, in any order.
merged() {
    "$quipu" "$1" --merge --format=csv ${3:+"$3"} ./*.part >got || fail "$1: the merge of $2 parts ends with an error"
    cmp expected got || fail "$1 ${3:-}: $2 parts are not the whole"
}

# compare_caches COUNTS OPTIONS...: with each number of parts in the text COUNTS.
filled=0
compare_caches() {
    local counts=$1
    shift
    "$quipu" cache --format=csv "$@" t >expected || fail "cache $*"
    "$quipu" cache --format=csv --jobs=3 "$@" t >got || fail "cache --jobs=3 $*"
    cmp expected got || fail "cache $*: 3 jobs are not one"
    for count in $counts; do
        parts cache "$count" "$@"
        merged cache "$count"
        for part in *.part; do
            [ "$(wc -c <"$part")" -lt 700 ] || filled=$((filled + 1))
        done
    done
}
compare_caches "1 2 3 7"
compare_caches 3 --by=function --l1d=1K,2,32 --l1i=1K,4,16 --l2=4K,4,32 --llc=64K,8,64
compare_caches 7 --by=line --l1d=512,full,64 --l2=2K,full,16 --llc=8K,2,32
compare_caches 2 --by=thread --l2=16K,1,64 --llc=none
compare_caches 3 --by=function --levels=inclusive --l1d=4K,4,64 --llc=32K,4,64
compare_caches 4 --by=line --levels=exclusive --l1d=1K,2,32 --l1i=1K,2,32 --l2=4K,4,32 --llc=16K,4,32
# A part without references is nearly empty: its chunks have been read with those in front of them.
[ "$filled" -ge 12 ] || fail "of 32 parts only $filled could begin by themselves"

for options in "--by=size" "--by=distance --line=16" "--by=window --window=30000"; do
    read -ra words <<<"$options"
    "$quipu" reuse --format=csv "${words[@]}" t >expected || fail "reuse $options"
    "$quipu" reuse --format=csv --jobs=2 "${words[@]}" t >got || fail "reuse --jobs=2 $options"
    cmp expected got || fail "reuse $options: 2 jobs are not one"
    for count in 2 7; do
        parts reuse $count "${words[@]}"
        merged reuse $count "${words[0]}"
    done
done
"$quipu" reuse --to=svg t >expected
"$quipu" reuse --to=svg --jobs=2 t >got
cmp expected got || fail "reuse --to=svg: 2 jobs are not one"
# Parts leave out most references, also where levels depend on each other.
parts cache 1 --levels=inclusive
[ "$(wc -c <1.part)" -lt 4000000 ] || fail "a part has kept too much: $(wc -c <1.part) bytes"
# The text is the same, too, with its heading, and the rows are chosen when all is merged.
parts cache 3 --by=function --l1d=1K,2,64
"$quipu" cache --by=function --l1d=1K,2,64 --sort=reads --limit=3 t >expected
"$quipu" cache --merge --sort=reads --limit=3 ./*.part >got
cmp expected got || fail "text of merged parts: $(cat got)"
"$quipu" cache --l1d=1K,2,64 t >expected
"$quipu" cache --merge --by=kind ./*.part >got
cmp expected got || fail "kinds of parts that were made by function: $(cat got)"

# What cannot be cut is done by one process.
"$quipu" cache --processors=2 --by=object --format=csv t >expected
"$quipu" cache --processors=2 --by=object --format=csv --jobs=2 t >got
cmp expected got || fail "--processors=2 --by=object --jobs=2 is not --processors=2 --by=object"

# ---- errors ----
mkdir kept
cp 1.part 2.part 3.part kept
expect_error 1 "'--part=1/2'" "$quipu" cache --part=1/2 --processors=2 --by=object -o x.part t
[ ! -e x.part ] || fail "a part that cannot be made is there"
expect_error 1 "part 2 of 3 is missing" "$quipu" cache --merge 1.part 3.part
expect_error 1 "are both part 2 of 3" "$quipu" cache --merge 1.part 2.part 2.part
expect_error 1 "needs the files of all parts" "$quipu" cache --merge
expect_error 1 "is not the result of a part" "$quipu" cache --merge t
expect_error 1 "'none'" "$quipu" cache --merge none
expect_error 1 "is a part of 'quipu cache', not of 'quipu reuse'" "$quipu" reuse --merge 1.part 2.part 3.part
expect_error 1 "give options of caches" "$quipu" cache --merge --l1d=1K,2,64 1.part 2.part 3.part
expect_error 1 "make them again with this one" "$quipu" cache --merge --by=line 1.part 2.part 3.part
expect_error 1 "do not go together" "$quipu" cache --merge --part=1/2 t
expect_error 1 "leave it out with --part" "$quipu" cache --jobs=2 --part=1/2 t
expect_error 1 "'--jobs=0'" "$quipu" cache --jobs=0 t
"$quipu" cache --part=2/4 -o 4.part t
expect_error 1 "one of 4" "$quipu" cache --merge 1.part 4.part
"$quipu" cache --by=function --part=2/3 -o 2.part t
expect_error 1 "different caches" "$quipu" cache --merge 1.part 2.part 3.part
"$quipu" cache --part=2/3 --l1d=1K,2,64 -o 2.part t
expect_error 1 "different rows" "$quipu" cache --merge 1.part 2.part 3.part
"$quipu" trace -o small.t -- ./program 3 >/dev/null
"$quipu" cache --by=function --l1d=1K,2,64 --part=2/3 -o 2.part small.t
expect_error 1 "of another trace" "$quipu" cache --merge 1.part 2.part 3.part
parts reuse 2
expect_error 1 "have no windows" "$quipu" reuse --merge --by=window 1.part 2.part
expect_error 1 "give --line, --window" "$quipu" reuse --merge --line=16 1.part 2.part
for size in 0 7 47 48 200; do
    head -c $size kept/2.part >2.part
    expect_error 1 "'2.part'" "$quipu" cache --merge kept/1.part 2.part kept/3.part
done

# ---- GNU parallel ----
if has parallel; then
    rm -f ./*.part
    "$quipu" cache --by=function t >expected
    parallel --will-cite -j 2 "$quipu" cache --by=function --part={}/5 -o {}.part t ::: 1 2 3 4 5 ||
        fail "GNU parallel ends with an error"
    "$quipu" cache --merge [1-5].part >got
    cmp expected got || fail "GNU parallel: the parts are not the whole"
fi

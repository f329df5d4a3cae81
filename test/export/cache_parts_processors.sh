#!/bin/bash
# cache_parts_processors.sh: quipu cache --processors in parts that are merged prints what one process prints, byte
# by byte: threads that share lines, truly and falsely, race, and wait for each other; and a forked process.
. "$(dirname "$0")/lib.bash"

cat >program.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
enum { THREADS = 3 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct { unsigned own, all; } counts[THREADS];
static unsigned table[1 << 14];
static struct node {
    struct node *next;
    unsigned value;
} nodes[1 << 10];
static _Atomic unsigned turns;
static unsigned work(unsigned x, int rounds, int number) {
    for (int i = 0; i < rounds; i++) {
        x = x * 1103515245 + 12345;
        counts[number].own += x >> 9; /* false sharing */
        table[x >> 18]++; /* races */
        const struct node *node = &nodes[x >> 22];
        for (int n = 0; n < 20; n++, node = node->next) /* each step is a value in the records */
            x += node->value;
        if (x % 64 == 0) {
            pthread_mutex_lock(&lock);
            for (int n = 0; n < THREADS; n++)
                counts[n].all++;
            pthread_mutex_unlock(&lock);
        }
        if (x % 300 == 0)
            turns++;
    }
    return x;
}
static int rounds;
static void *run(void *number) {
    return (void *)(size_t)work(3, rounds, (int)(size_t)number);
}
int main(int argc, char **argv) {
    pthread_t threads[THREADS];
    rounds = argc > 1 ? atoi(argv[1]) : 26000;
    for (unsigned i = 0; i < 1024; i++)
        nodes[i] = (struct node){&nodes[(i * 5 + 1) % 1024], i};
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, run, (void *)(size_t)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    if (fork() == 0)
        _exit(work(1, rounds, 1) == 0);
    unsigned x = work(7, rounds / 2, 0);
    wait(NULL);
    printf("%u\n", x + counts[1].all);
    return 0;
}
C
"$quipu" cc --quipu=trace -O1 -g -pthread program.c -o program || fail "cannot build"
"$quipu" trace -o t -- ./program >/dev/null || fail "cannot record"

# compare COUNT OPTIONS...: the merge of COUNT parts is the whole.
compare() {
    local count=$1
    shift
    "$quipu" cache "$@" t >expected || fail "$*"
    rm -f ./*.part
    for part in $(seq "$count"); do
        "$quipu" cache --part="$part/$count" -o "$part.part" "$@" t || fail "$*: part $part/$count"
    done
    "$quipu" cache --merge ./*.part >got || fail "$*: the merge of $count parts ends with an error"
    cmp expected got || fail "$*: $count parts are not the whole: $(diff expected got | head -4)"
}
compare 3 --processors=threads --by=line --l1d=1K,2,64 --l2=4K,4,64 --llc=64K,8,64
[[ $(wc -c <2.part) -gt 5000 ]] || fail "the second part has nothing"
compare 3 --processors=2 --by=thread --levels=inclusive --l1d=4K,4,64 --llc=32K,4,64
"$quipu" cache --processors=3 --levels=exclusive t >expected
"$quipu" cache --processors=3 --levels=exclusive --jobs=2 t >got
cmp expected got || fail "--jobs=2"

head -c $(($(wc -c <2.part) / 2)) 2.part >broken.part
expect_error 1 "'broken.part'" "$quipu" cache --merge 1.part broken.part 3.part
"$quipu" cache --part=2/3 --processors=4 --by=thread --levels=inclusive --l1d=4K,4,64 --llc=32K,4,64 -o 2.part t
expect_error 1 "different caches" "$quipu" cache --merge 1.part 2.part 3.part

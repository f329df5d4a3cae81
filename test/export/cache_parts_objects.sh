#!/bin/bash
# cache_parts_objects.sh: quipu cache --by=object in parts that are merged prints what one process prints, byte by
# byte: parts ask for blocks that others have allocated and freed, in threads and in a forked child.
. "$(dirname "$0")/lib.bash"

cat >program.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#define OWN __attribute__((noinline)) static
struct node {
    struct node *next;
    unsigned value;
};
static struct node *heads[64];
static _Thread_local unsigned mine[16];
OWN void *give(size_t size) {
    return malloc(size);
}
OWN void push(struct node **head, unsigned value) {
    struct node *node = value & 1 ? give(sizeof *node + value % 300) : malloc(sizeof *node);
    node->next = *head;
    node->value = value;
    *head = node;
}
OWN void drop(struct node **head) {
    struct node *node = *head;
    *head = node->next;
    free(node);
}
OWN unsigned follow(const struct node *node, int count) {
    unsigned sum = 0;
    for (; node && count > 0; count--) {
        sum += node->value;
        node = node->next;
    }
    return sum;
}
OWN char *grow(char *text, size_t size) {
    text = realloc(text, size);
    memset(text + size / 2, 'x', size / 2);
    return text;
}
OWN unsigned work(unsigned x, int rounds, struct node **lists) {
    enum { KEEPS = PROT_READ | PROT_WRITE, OWNS = MAP_PRIVATE | MAP_ANONYMOUS };
    char *text = NULL;
    unsigned char *pages = mmap(NULL, 1 << 16, KEEPS, OWNS, -1, 0);
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < 300; i++) {
            x = x * 1103515245 + 12345;
            struct node **head = &lists[x >> 27];
            mine[x >> 28]++;
            if (x & 1 << 20 && *head)
                drop(head);
            else
                push(head, x >> 8);
            x += follow(*head, 40);
            pages[x >> 17 & 0xffff] += x;
        }
        text = grow(text, 100 + (x >> 20));
        if (round == rounds / 2) { /* a part of the mapping becomes another one */
            munmap(pages + 0x4000, 0x4000);
            mmap(pages + 0x4000, 0x4000, KEEPS, OWNS | MAP_FIXED, -1, 0);
        }
        x += text[x % 90];
    }
    free(text);
    return x;
}
static void *run(void *argument) {
    return (void *)(size_t)work(3, *(int *)argument, heads + 32);
}
int main(int argc, char **argv) {
    pthread_t thread;
    int rounds = 60, threads = argc > 1;
    if (threads && pthread_create(&thread, NULL, run, &rounds) == 0)
        pthread_join(thread, NULL);
    unsigned x = work(7, rounds, heads);
    if (!threads && fork() == 0)
        _exit(work(x, rounds, heads) == 0);
    wait(NULL);
    printf("%u\n", x);
    return 0;
}
C
"$quipu" cc --quipu=trace -O2 -g -pthread program.c -o program || fail "cannot build"

filled=0
# compare COUNT OPTIONS...: the merge of COUNT parts is the whole.
compare() {
    local count=$1
    shift
    "$quipu" cache --by=object --format=csv "$@" t >expected || fail "$*"
    rm -f ./*.part
    for part in $(seq "$count"); do
        "$quipu" cache --by=object --part="$part/$count" -o "$part.part" "$@" t || fail "$*: part $part/$count"
        [[ $(wc -c <"$part.part") -lt 3000 ]] || filled=$((filled + 1))
    done
    "$quipu" cache --merge --format=csv ./*.part >got || fail "$*: the merge of $count parts ends with an error"
    cmp expected got || fail "$*: $count parts are not the whole: $(diff expected got | head -4)"
}
for arguments in "" threads; do
    # shellcheck disable=SC2086
    "$quipu" trace -o t -- ./program $arguments >/dev/null || fail "cannot record"
    compare 3
    compare 4 --allocators=give --levels=inclusive --l1d=4K,4,64 --llc=32K,4,64
done
((filled >= 8)) || fail "of 14 parts only $filled have references"
"$quipu" cache --by=object t >expected
"$quipu" cache --by=object --jobs=2 t >got
cmp expected got || fail "--jobs=2"
for size in 60 $(($(wc -c <2.part) / 2)); do
    head -c $size 2.part >broken.part
    expect_error 1 "'broken.part'" "$quipu" cache --merge 1.part broken.part 3.part 4.part
done

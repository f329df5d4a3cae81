#!/bin/bash
# Programs that are built with --quipu=watch: what they tell, at several levels of optimization.
. "$(dirname "$0")/lib.bash"
cat >program.c <<'EOT'
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
struct table {
    volatile long used;
    int slots[64];
} table, *volatile tables = &table; /* volatile: stores stay in order */
struct node {
    struct node *next;
    int value;
} *volatile head;
volatile long counts[8];
volatile unsigned char buffer[4096];
__attribute__((noinline)) void bump(int i) { counts[i] += 1; }
__attribute__((noinline)) void push(int n) {
    struct node *node = calloc(1, sizeof *node);
    node->next = head;
    head = node;
    head->value = n;
}
static void *work(void *a) {
    for (int k = 0; k < 500; k++)
        bump((int)(long)a);
    return a;
}
int main(void) {
    pthread_t threads[4];
    struct table *volatile other = calloc(1, sizeof *other);
    tables->used = 1;
    tables = other;
    tables->used = 2;
    push(1);
    push(2);
    for (int i = 100; i < 104; i++)
        buffer[i] = (unsigned char)(i - 99);
    for (long i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    if (fork() == 0) {
        counts[7] = 7;
        _exit(0);
    }
    wait(NULL);
    return (int)tables->used + 3;
}
EOT
for level in '-O0' -O2 '-O1 -fno-pie -no-pie' '-O1 -static'; do
    read -ra flags <<<"$level"
    quipu cc --quipu=watch --quipu-watch=all "${flags[@]}" -g -pthread program.c -o program ||
        fail "$level: cannot build"
    watches 5 -e 'tables->used' -e 'head->value' -e 'buffer[101..102]' -e 'counts[7]' -- ./program
    tells 'tables->used 0 -> 1' 'head->value 0 -> 1' 'buffer[101] 0 -> 2' 'buffer[102] 0 -> 3' \
        'counts[7] 0 -> 7'
    [[ $(grep -c '  main  *program\.c:[0-9]*  *[a-z]*mov' hits) -eq 4 ]] || fail "$level: $(cat hits)"
    watches 5 --follow -e 'tables->used' -e 'head->value' -- ./program
    tells 'tables->used 0 -> 1' 'tables->used 0 -> 2' 'head->value 0 -> 1' 'head->value 0 -> 2'
    watches 5 --if 'tables->used == 2 && new > 498' -e 'counts' -- ./program
    sed -i -E 's/counts\[[0-9]\]/counts/; s/^ *[0-9]+:/ 1:/' hits
    sort -o hits hits
    tells 'counts 498 -> 499' 'counts 498 -> 499' 'counts 498 -> 499' 'counts 498 -> 499' \
        'counts 499 -> 500' 'counts 499 -> 500' 'counts 499 -> 500' 'counts 499 -> 500'
    watches 5 --summary --format=json -e 'counts[0..3]' -- ./program
    python3 -c "
import json
rows = json.load(open('hits'))['writers']
assert sum(row['hits'] for row in rows) == 2000, rows
assert {row['function'] for row in rows} == {'bump'}, rows" || fail "$level: $(cat hits)"
    watches 5 --backtrace --limit 1 -e 'counts[2]' -- ./program
    grep -qE '#0 .* bump ' hits && grep -qE '#1 .* work ' hits || fail "$level: $(cat hits)"
    watches 133 --stop -e buffer -- ./program
    tells 'buffer[100] 0 -> 1'
done
leaves_nothing

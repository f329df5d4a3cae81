#!/bin/bash
# trace_order.sh: quipu print --order=global has the order that synchronization made. Threads and
# processes write the elements of an array one after the other, each as it is handed the turn. So the
# order is in the addresses.
. "$(dirname "$0")/lib.bash"

cat >program.c <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
enum { WORKERS = 3, ROUNDS = 400, ALL = WORKERS * ROUNDS };
static unsigned char *elements;
static unsigned next; /* whose turn it is is next % WORKERS */
static atomic_uint turn;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static sem_t semaphores[WORKERS];
static int ends[WORKERS][2];
__attribute__((noinline)) static void mark(unsigned number) {
    elements[number] = 1;
}
/* Anything may happen next to it. */
__attribute__((noinline)) static void work(unsigned number) {
    static _Thread_local volatile unsigned sums[16];
    for (unsigned i = 0; i < 20 + number % 7; i++)
        sums[i % 16] += i;
}
static void *by_mutex(void *argument) {
    unsigned own = (unsigned)(size_t)argument;
    for (unsigned i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&mutex);
        while (next % WORKERS != own)
            pthread_cond_wait(&changed, &mutex);
        mark(next++);
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&mutex);
        work(i);
    }
    return NULL;
}
static void *by_lock(void *argument) { /* whoever gets it */
    (void)argument;
    for (unsigned i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&mutex);
        mark(next++);
        pthread_mutex_unlock(&mutex);
        work(i);
    }
    return NULL;
}
static void *by_atomic(void *argument) {
    unsigned own = (unsigned)(size_t)argument;
    for (unsigned i = 0; i < ROUNDS; i++) {
        unsigned now;
        while ((now = atomic_fetch_add(&turn, 0)) % WORKERS != own)
            sched_yield();
        mark(now);
        atomic_exchange(&turn, now + 1);
        work(i);
    }
    return NULL;
}
static void *by_semaphore(void *argument) {
    unsigned own = (unsigned)(size_t)argument;
    for (unsigned i = 0; i < ROUNDS; i++) {
        sem_wait(&semaphores[own]);
        mark(next++);
        sem_post(&semaphores[(own + 1) % WORKERS]);
        work(i);
    }
    return NULL;
}
static void *one(void *argument) {
    mark(next++);
    return argument;
}
static void by_threads(void) { /* which come and go */
    for (unsigned i = 0; i < ALL / 4; i++) {
        pthread_t thread;
        mark(next++);
        pthread_create(&thread, NULL, one, NULL);
        pthread_join(thread, NULL);
    }
}
static void by_pipe(unsigned own) {
    unsigned now;
    while (read(ends[own][0], &now, sizeof now) == sizeof now && now < ALL) {
        mark(now++);
        (void)!write(ends[(own + 1) % WORKERS][1], &now, sizeof now);
        if (now + WORKERS > ALL)
            break;
        work(now);
    }
}
static void by_processes(void) {
    unsigned zero = 0;
    for (int i = 0; i < WORKERS; i++)
        if (pipe(ends[i]) != 0)
            abort();
    (void)!write(ends[0][1], &zero, sizeof zero);
    for (unsigned i = 0; i < WORKERS; i++)
        if (fork() == 0) {
            by_pipe(i);
            exit(0);
        }
    for (unsigned i = 0; i < WORKERS; i++)
        wait(NULL);
    mark(ALL);
}
int main(int argc, char **argv) {
    static void *(*const workers[])(void *) = {by_mutex, by_lock, by_atomic, by_semaphore};
    unsigned kind = argc > 1 ? (unsigned)atoi(argv[1]) : 0;
    elements = mmap(NULL, ALL + 1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (kind == 5) {
        by_processes();
        return 0;
    }
    if (kind == 4) {
        by_threads();
        return 0;
    }
    pthread_t threads[WORKERS];
    for (unsigned i = 0; i < WORKERS; i++)
        sem_init(&semaphores[i], 0, i == 0);
    for (size_t i = 0; i < WORKERS; i++)
        pthread_create(&threads[i], NULL, workers[kind], (void *)i);
    for (unsigned i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
    mark(ALL);
    return 0;
}
C

# Prints how many elements the rows of function mark write, and how many of them are not behind the
# element of the write in front of them.
count_turns() {
    "$quipu" print --no-pager --format=json --function=mark "$@" >rows.json || fail "cannot print"
    python3 - <<'PYTHON'
import json
writes = []
for line in open('rows.json'):
    row = json.loads(line)
    # the element is one byte
    writes += [r['address'] for r in row.get('references', []) if r['write'] and r['size'] == 1]
print(len(writes), sum(b != a + 1 for a, b in zip(writes, writes[1:])))
PYTHON
}

names=(mutex lock atomic semaphore threads processes)
for level in -O0 -O2; do
    "$quipu" cc --quipu=trace $level -g -pthread program.c -o program || fail "cannot build"
    for kind in 0 1 2 3 4 5; do
        "$quipu" trace -o t -- ./program $kind || fail "${names[kind]}: cannot record"
        read -r marks wrong < <(count_turns --order=global t)
        most=$((kind == 4 ? 600 : 1201))
        [ "$marks" = $most ] || fail "$level ${names[kind]}: $marks writes, not $most"
        [ "$wrong" = 0 ] || fail "$level ${names[kind]}: $wrong writes are out of order"
        read -r marks wrong < <(count_turns t)
        [ "$marks" = $most ] || fail "$level ${names[kind]}: $marks writes by thread, not $most"
        [ $kind = 1 ] || [ "$wrong" -gt 100 ] ||
            fail "${names[kind]}: threads one after the other have the order, too: $wrong"
    done
done

# The same rows, whatever their order is.
"$quipu" trace -o t -- ./program 1 || fail "cannot record"
for order in thread global; do
    "$quipu" print --no-pager --order=$order t | awk '/^process/ {thread = $4; next} {print thread, $0}' |
        sort >rows.$order
done
cmp rows.thread rows.global || fail "the orders have different rows"
"$quipu" print --no-pager --order=global --first=100 t | grep -cE '^[0-9a-f]+ ' >count || true
[ "$(cat count)" = 100 ] || fail "--first=100 prints $(cat count)"
expect_error 1 "no such order" "$quipu" print --order=time t

# Rows that have no order say so: two threads that do not meet, and then what is behind both.
cat >apart.c <<'C'
#include <pthread.h>
#include <stddef.h>
#include <string.h>
static int sums[2];
static char much[2][64 << 20]; /* so much that both threads work on it at the same time */
__attribute__((noinline)) static void add(int *sum, int count) {
    for (int i = 0; i < count; i++)
        *(volatile int *)sum += i;
}
__attribute__((noinline)) static void end(void) {
    sums[0] += sums[1];
}
static pthread_barrier_t barrier;
static void *run(void *sum) {
    pthread_barrier_wait(&barrier);
    add(sum, 500);
    memset(much[(int *)sum - sums], 1, sizeof *much);
    add(sum, 500);
    pthread_barrier_wait(&barrier);
    return NULL;
}
int main(void) {
    pthread_t threads[2];
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&threads[0], NULL, run, &sums[0]);
    pthread_create(&threads[1], NULL, run, &sums[1]);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    end();
    return 0;
}
C
"$quipu" cc --quipu=trace -O1 -g -pthread apart.c -o apart || fail "cannot build"
"$quipu" trace -o t -- ./apart || fail "cannot record"
"$quipu" print --no-pager --order=global --format=csv t >rows.csv || fail "cannot print"
python3 - <<'PYTHON' || fail "ordered rows"
import csv
rows = [row for row in csv.DictReader(open('rows.csv', newline='')) if row['access'] != 'gap']
assert all(row['ordered'] in '01' for row in rows)
add = [b for a, b in zip(rows, rows[1:])
       if a['thread'] != b['thread'] and a['function'] == b['function'] == 'add']
assert add and all(row['ordered'] == '0' for row in add), len(add)
(first, *_) = [i for i, row in enumerate(rows) if row['function'] == 'end']
assert not any(row['function'] in ('add', 'run') for row in rows[first:])
assert all(row['ordered'] == '1' for row in rows[first:])
PYTHON

# The C interface gives the same.
needs g++
cat >reader.cc <<'C'
#include <cinttypes>
#include <cstdio>
#include <quipu-trace.h>
int main() {
    struct quipu_trace *trace = quipu_trace_open("t", NULL, 0);
    struct quipu_trace_reader *reader = quipu_trace_begin_global(trace);
    while (const struct quipu_trace_record *record = quipu_trace_next(reader))
        printf("%u %" PRIu64 " %d\n", quipu_trace_identify(trace, quipu_trace_thread(reader)).thread, record->address,
               quipu_trace_is_ordered(reader));
    if (quipu_trace_fault(reader) || quipu_trace_gap(reader))
        puts("not at the end");
    quipu_trace_end(reader);
    quipu_trace_close(trace);
}
C
top=$(cd "$(dirname "$0")/../.." && pwd)
g++ -I"$top/include" reader.cc -o reader -L"$QUIPU_BUILD/lib" -lquipu-trace -Wl,-rpath,"$QUIPU_BUILD/lib" ||
    fail "cannot link"
./reader >records.txt
python3 - <<'PYTHON' | cmp - records.txt || fail "the C interface differs from quipu print"
import csv
for row in csv.DictReader(open('rows.csv', newline='')):
    if row['access'] != 'gap' and not row['access'].startswith('gap ') and int(row['reference']) < 2:
        print(row['thread'], row['address'], row['ordered'])
PYTHON

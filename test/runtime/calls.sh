#!/bin/bash
# calls.sh: trees of calls when the process is killed, has no file, has thousands of threads, goes deeper
# than there is room, has more than one mode; interrupted by a timer at any instruction; code that runs
# before there is thread-local storage.
. "$(dirname "$0")/common.sh.inc"
export PATH=${QUIPU_BUILD:?}/bin:$PATH

cat >program.c <<'EOF'
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#define APART __attribute__((noinline))

static volatile long interrupted;

APART static long work(long n) {
    return n < 2 ? 1 : work(n - 1) + work(n - 2);
}

/* keeps its frame */
APART static long deep(long n) {
    volatile long here = n;
    return n ? deep(n - 1) + here : 0;
}

APART static void *thread(void *argument) {
    return (void *)work((long)argument);
}

APART static void handler(int number) {
    interrupted += work(number % 5);
}

APART static void timed(void) {
    struct itimerval timer = {{0, 100}, {0, 100}};
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
    for (int i = 0; i < 40 || interrupted < 1000; i++)
        work(20);
    memset(&timer, 0, sizeof timer);
    setitimer(ITIMER_REAL, &timer, NULL);
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    if (!strcmp(what, "kill")) {
        work(10);
        raise(SIGKILL);
    } else if (!strcmp(what, "threads")) {
        for (int i = 0; i < 2000; i++) {
            pthread_t thread_id;
            if (pthread_create(&thread_id, NULL, thread, (void *)3))
                return 2;
            pthread_join(thread_id, NULL);
        }
    } else if (!strcmp(what, "deep")) {
        printf("%ld\n", deep(600000) + work(5));
    } else if (!strcmp(what, "timed")) {
        timed();
    }
    printf("%ld\n", work(12));
    return 0;
}
EOF

# dump FILE: a line for each node: its function, calls, instructions, whether it is entered.
cat >dump.py <<'EOF'
import struct, subprocess, sys
data = open(sys.argv[1], 'rb').read()
names = {int(line.split()[0], 16): line.split()[-1] for line in subprocess.run(
    ['nm', 'program'], stdout=subprocess.PIPE, check=True).stdout.decode().splitlines()
    if line.split()[-2] in 'tT'}
at, trees = 4096, 0
while at < struct.unpack_from('<Q', data, 16)[0]:
    kind, _, size = struct.unpack_from('<IIQ', data, at)
    if kind == 3:
        _, count, _, flags, _, first, base, cell = struct.unpack_from('<IIIIQQQQ', data, at + 16)
        if first == 0:
            now = base + (sum(struct.unpack_from('<4Q', data, cell)) if cell else 0)
            trees += 1
            print('flags', flags)
        for i in range(count):
            node = struct.unpack_from('<IIQQQq', data, at + 64 + 64 * i)
            entered = node[5] < 0
            print('node', names.get(node[3], '-'), node[4],
                  (node[5] + (now if entered else 0)) % 2**64, int(entered))
    at += size
print('trees', trees)
EOF

quipu cc --quipu=calls -O1 -no-pie -pthread program.c -o program || fail "cannot build it"
tree() {
    python3 dump.py "$(echo quipu.data/*.quipu)" >shown || fail "$1: $(cat shown)"
}
has() {
    grep -qx -- "$2" shown || fail "$1: no '$2' in: $(cat shown)"
}
calls() { # NAME: of all its nodes
    awk -v name="$1" '$1 == "node" && $2 == name { sum += $3 } END { print sum + 0 }' shown
}

silent ./program >plain
tree plain
test "$(calls work)" = 465 || fail "plain: $(calls work) calls"
has plain 'trees 1'

rm -rf quipu.data
(./program kill) 2>/dev/null
tree kill
test "$(calls work)" = 177 || fail "kill: $(calls work) calls"
grep -q '^node main 1 [1-9][0-9]* 1$' shown || fail "kill: $(cat shown)"

rm -rf quipu.data
silent ./program threads >out
tree threads
test "$(calls work)" = $((465 + 2000 * 5)) || fail "threads: $(calls work) calls"
test "$(sed -n 's/^trees //p' shown)" -le 32 || fail "threads: $(tail -n1 shown)"
test "$(calls -)" = 2001 || fail "threads: $(calls -) threads"

rm -rf quipu.data
(ulimit -s 65536 && silent ./program deep >out) || fail "deep: $(cat errors)"
tree deep
has deep 'flags 0'
test "$(calls deep)" = 600001 || fail "deep: $(calls deep) calls of itself"
test "$(calls work)" = $((465 + 15)) || fail "deep: $(calls work) calls"
! grep -q '^node work .* [1-9][0-9]*$' shown || fail "deep: still in work: $(cat shown)"

# between modules: more calls within each other than are told apart
cat >library.c <<'EOF'
long back(long (*forth)(long), long n) {
    return n ? forth(n - 1) + 1 : 0;
}
EOF
cat >across.c <<'EOF'
#include <stdio.h>
#include <stdlib.h>

long back(long (*forth)(long), long n);

static long forth(long n) {
    return back(forth, n) + 1;
}

int main(int argc, char **argv) {
    printf("%ld\n", forth(argc > 1 ? atol(argv[1]) : 0));
    printf("%ld\n", forth(3));
    return 0;
}
EOF
quipu cc --quipu=calls -O1 -fPIC -shared library.c -o library.so || fail "across: no library"
quipu cc --quipu=calls -O1 -no-pie across.c ./library.so -o across || fail "across: cannot build it"
for turns in 1000 200000; do
    rm -rf quipu.data
    (ulimit -s 65536 && silent ./across $turns >out) || fail "across: $(cat errors)"
    test "$(cat out)" = "$((2 * turns + 1))"$'\n'7 || fail "across: $(cat out)"
    tree across
    if [[ $turns = 1000 ]]; then
        has across 'flags 0'
        has across 'node - 1001 [0-9]* 0'
    else
        has across 'flags 1'
    fi
    awk '$1 == "node" && ($4 > 1e15 || $5 && $3 > 1) { exit 1 }' shown || fail "across: $(cat shown)"
done

rm -rf quipu.data
silent ./program timed >out
tree timed
work=$(awk '$2 == "work" && $5 != 0' shown)
test -z "$work" || fail "timed: still in '$work'"
awk '$2 == "handler" { calls += $3 } END { exit calls < 200 }' shown || fail "timed: $(cat shown)"
awk '$1 == "node" && $4 > 1e15 { exit 1 }' shown || fail "timed: below zero: $(cat shown)"

rm -rf quipu.data
mkdir quipu.data && chmod 500 quipu.data
if ! touch quipu.data/none 2>/dev/null; then
    ./program >out 2>errors || fail "without a file: $?"
    cmp -s plain out || fail "without a file: $(cat out)"
fi
rm -rf quipu.data
touch quipu.data
./program >out 2>errors || fail "without a directory: $?"
cmp -s plain out || fail "without a directory: $(cat out)"
warned 'counts of this run are lost'
rm quipu.data

# what an ifunc resolver calls in another unit
cat >early.c <<'EOF'
#include <stdio.h>

int choose(int n);

static int one(void) {
    return 1;
}

static int two(void) {
    return choose(2);
}

static int (*resolve(void))(void) {
    return choose(1) ? two : one;
}

int chosen(void) __attribute__((ifunc("resolve")));

int main(void) {
    printf("%d\n", chosen());
    return 0;
}
EOF
cat >chooser.c <<'EOF'
static __attribute__((noinline)) int same(volatile int *n) {
    return *n;
}

int choose(int n) {
    volatile int copy = n;
    return same(&copy);
}
EOF
for flags in -no-pie -pie '-pie -Wl,-z,now'; do
    quipu cc --quipu=calls -O1 -fPIE $flags early.c chooser.c -o early 2>warnings ||
        fail "early $flags: cannot build it: $(cat warnings)"
    rm -rf quipu.data
    silent ./early >out
    test "$(cat out)" = 2 || fail "early $flags: $(cat out)"
done
rm -rf quipu.data

quipu cc --quipu=count,event,moment,calls --quipu-event=loads -O2 -no-pie -pthread program.c -o program ||
    fail "all modes: cannot build it"
silent ./program >out
cmp -s plain out || fail "all modes: $(cat out)"
tree modes
test "$(calls work)" -gt 100 || fail "all modes: $(cat shown)"
grep -q 'work' < <(quipu report --by=function quipu.data) || fail "all modes: no report"
exit 0

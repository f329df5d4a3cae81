#!/bin/bash
# calls_copied.sh: trees of calls where a process is copied by clone, which no handler of fork's hears
# of: both go new ways, and begin threads that do, in the same file.
. "$(dirname "$0")/common.sh.inc"
export PATH=${QUIPU_BUILD:?}/bin:$PATH

cat >program.c <<'EOF'
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define LEVEL(n, below)                            \
    static __attribute__((noinline)) int n(int x) { \
        static int bit = __COUNTER__;              \
        if (x & 1 << bit)                          \
            return below(x) + 1;                   \
        return below(x) + 2;                       \
    }

static __attribute__((noinline)) int last(int x) {
    return x + 1;
}
LEVEL(a, last) LEVEL(b, a) LEVEL(c, b) LEVEL(d, c) LEVEL(e, d) LEVEL(f, e) LEVEL(g, f) LEVEL(h, g)
LEVEL(i, h) LEVEL(j, i) LEVEL(k, j) LEVEL(top, k)

static __attribute__((noinline)) int ways(int first, int step) {
    int sum = 0;
    for (int x = first; x >= 0 && x < 4096; x += step)
        sum += top(x);
    return sum;
}

static void *thread(void *argument) {
    return (void *)(long)ways(argument ? 4095 : 0, argument ? -1 : 1);
}

int main(void) {
    int status = 0, wrong = 0;
    int pid = (int)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    alarm(60);
    int sum = ways(pid ? 0 : 4095, pid ? 1 : -1);
    for (int i = 0; i < 3; i++) {
        void *result;
        pthread_t number;
        if (pthread_create(&number, NULL, thread, pid ? NULL : &sum) || pthread_join(number, &result))
            abort();
        wrong += (long)result != sum;
    }
    if (pid == 0)
        _exit(wrong);
    waitpid(pid, &status, 0);
    printf("%d, %d wrong here, status %d there\n", sum, wrong, status);
    return 0;
}
EOF
quipu cc --quipu=calls -D_GNU_SOURCE -O1 -pthread program.c -o program || fail "cannot build"
for turn in 1 2 3; do
    rm -rf quipu.data
    ./program >output 2>errors || fail "the program ended with status $?"
    echo "8464384, 0 wrong here, status 0 there" | diff - output || fail "turn $turn: another output"
    [ ! -s errors ] || fail "turn $turn: the program said: $(cat errors)"
    quipu report --by=callsite --format=csv quipu.data >rows 2>errors || fail "no report: $(cat errors)"
    grep -q "copied its process" errors || fail "the copy is not told of: $(cat errors)"
    [ "$(quipu report --by=callsite --format=json --function=top quipu.data 2>/dev/null | python3 -c "
import json, sys
print(sum(row['calls'] for row in json.load(sys.stdin)['callsites'] if row['callee'] == 'top'))")" = 16384 ] ||
        fail "the parent called 'top' 16384 times"
done
exit 0

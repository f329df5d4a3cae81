#!/bin/bash
# event_turns.sh: loads, stores and bytes of string instructions that repeat, in all code models: in the
# end, at a fault in the middle, asked for by its handler, and by 'quipu stat --pid' meanwhile.
. "$(dirname "$0")/../bad/lib.bash"

trap 'kill -KILL $(jobs -p) 2>/dev/null' EXIT

cat >copies.c <<'END'
#include <quipu.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, COUNT = 5000 };
static char *from, to[2 * PAGE];
static enum quipu_kind kinds[] = {QUIPU_LOADS, QUIPU_STORES, QUIPU_BYTES_LOADED, QUIPU_BYTES_STORED};
static unsigned long at_fault[4];

__attribute__((noinline)) static void copy(char *target, const char *source, unsigned long count) {
    __asm__ volatile("rep movsb" : "+D"(target), "+S"(source), "+c"(count) : : "memory");
}

__attribute__((noinline)) static unsigned long same(const char *a, const char *b) {
    unsigned long count = COUNT;
    __asm__ volatile("repe cmpsb" : "+D"(a), "+S"(b), "+c"(count) : : "memory", "cc");
    return COUNT - count;
}

static void handle(int number, siginfo_t *information, void *context) {
    char byte;
    (void)number, (void)information;
    for (int i = 0; i < 4; i++)
        at_fault[i] = quipu_events_at(kinds[i], context);
    if (write(1, "fault\n", 6) != 6 || read(0, &byte, 1) != 1)
        _exit(2);
    mprotect(from + PAGE, PAGE, PROT_READ | PROT_WRITE);
}

static void show(const char *what, unsigned long start, int kind) {
    printf("%s %d %lu\n", what, kind, quipu_events(kinds[kind]) - start);
}

int main(int argc, char **argv) {
    unsigned long offset = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = handle;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &action, NULL);
    from = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(from + PAGE, PAGE, PROT_NONE);
    unsigned long begin[4];
    for (int i = 0; i < 4; i++)
        begin[i] = quipu_events(kinds[i]);
    copy(to, from + offset, COUNT); /* faults at the page, whatever the offset */
    for (int i = 0; i < 4; i++)
        printf("fault %d %lu\n", i, at_fault[i] - begin[i]);
    for (int kind = 0; kind < 4; kind++) {
        unsigned long start = quipu_events(kinds[kind]);
        copy(to, from, 0);
        show("none", start, kind);
        start = quipu_events(kinds[kind]);
        copy(to, from, 700);
        show("all", start, kind);
        to[90] = 0;
        start = quipu_events(kinds[kind]);
        same(to, from);
        show("equal", start, kind);
        to[90] = 1;
        start = quipu_events(kinds[kind]);
        same(to, from);
        show("differs", start, kind);
    }
    return 0;
}
END

# run MODEL OFFSET: runs it, and looks at it while it is in its handler.
run() {
    mkfifo orders
    QUIPU_DATA=data ./copies "$2" <orders >"out.$1.$2" &
    local process=$!
    exec 7>orders
    rm orders
    for ((i = 0; i < 500; i++)); do
        grep -q fault "out.$1.$2" && break
        sleep 0.02
    done
    "$quipu" stat --format=json --pid $process >"stat.$1.$2" || fail "$1: stat --pid"
    echo >&7
    exec 7>&-
    wait $process || fail "$1: the program ended with $?"
    rm -r data
}

events=(--quipu=event --quipu-event=loads --quipu-event=stores --quipu-event=bytes-loaded
    --quipu-event=bytes-stored)
for model in '-O0' '-O2' '-O2 -fPIC' '-O0 -fPIC' '-O2 -mcmodel=large -fno-pie -no-pie'; do
    name=${model// /}
    "$quipu" cc "${events[@]}" $model copies.c -o copies || fail "$model: cannot build"
    run "$name" 0
    run "$name" 1000
    python3 - "out.$name.0" "out.$name.1000" "stat.$name.0" "stat.$name.1000" <<'END' || fail "$model: $(cat "out.$name.0")"
import json, sys
whole, less = [{tuple(line.split()[:2]): int(line.split()[2]) for line in open(name) if line.count(" ") == 2}
               for name in sys.argv[1:3]]
for kind, (each, both) in enumerate([(1, 2), (1, 0), (1, 2), (1, 0)]):
    kind = str(kind)
    assert whole["all", kind] - whole["none", kind] == 700 * each, (kind, whole)
    assert whole["equal", kind] - whole["differs", kind] == (5000 - 91) * both, (kind, whole)
    # up to the page's end
    assert whole["fault", kind] - less["fault", kind] == 1000, (kind, whole, less)
    assert 4096 <= whole["fault", kind] < 4096 + 600, (kind, whole)

def sums(name):
    return {e["event"]: e["count"] for e in json.load(open(name))["events"]}
whole, less = sums(sys.argv[3]), sums(sys.argv[4])
assert len(whole) == 4
for kind in whole:
    assert whole[kind] - less[kind] == 1000, (kind, whole, less)
END
done

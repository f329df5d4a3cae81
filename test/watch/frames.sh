#!/bin/bash
# A watched local: only stores of its own function are checked, and those that may leave a frame.
# So a store beyond the frame of another function is told, as are all of a stack that lies in the
# local, and of what the program watches in its stack after that.
. "$(dirname "$0")/lib.bash"
cat >program.c <<'END'
#include <quipu.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

static volatile int hits;

static void count_hit(const struct quipu_write *write, void *data) {
    (void)write, (void)data;
    hits++;
}

/* Beyond its frame, by a constant index. */
static __attribute__((noinline)) void stray(void) {
    volatile int a[4];
    a[WHERE] = 77;
}

static __attribute__((noinline)) int owner(void) {
    volatile int x[64];
    memset((void *)x, 0, sizeof x);
    stray();
    for (int i = 0; i < 64; i++)
        if (x[i] == 77)
            return i;
    return -1;
}

#ifdef HAS_STACKS /* then stacks may be anywhere */
static ucontext_t outside, inside;

static __attribute__((noinline)) void nothing(void) {
    __asm__ volatile("");
}

static void on_other_stack(void) {
    volatile int local;
    local = 5;
    nothing();
    swapcontext(&inside, &outside);
}

static __attribute__((noinline)) int holder(void) {
    char room[65536];
    getcontext(&inside);
    inside.uc_stack.ss_sp = room;
    inside.uc_stack.ss_size = sizeof room;
    makecontext(&inside, on_other_stack, 0);
    swapcontext(&outside, &inside);
    return room[0];
}
#endif

/* Pushes first: its begin shares their place. */
static __attribute__((noinline)) int pushes(int n) {
    volatile int kept;
    int a = atoi("1"), b = atoi("2"), c = atoi("3"), d = atoi("4"), e = atoi("5");
    kept = n;
    int rest = n ? pushes(n - 1) : 0;
    return kept + rest + a * b + c * d + e;
}

static __attribute__((noinline)) void calls_below(int n) {
    volatile int sum = pushes(n);
    (void)sum;
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "stray") == 0)
        printf("%d\n", owner() >= 0);
#ifdef HAS_STACKS
    holder();
#endif
    if (argc > 1 && strcmp(argv[1], "pushes") == 0) {
        volatile long mine = 0;
        int64_t above = quipu_watch_create((void *)&mine, sizeof mine, count_hit, NULL);
        calls_below(1);
        mine = 1;
        int before = hits;
        int64_t below = quipu_watch_create((char *)&mine - 600, 500, count_hit, NULL);
        calls_below(1);
        printf("%d %d\n", before, hits > before);
        quipu_watch_delete(below);
        quipu_watch_delete(above);
        calls_below(0);
    }
    return 0;
}
END
for options in '-O0' '-O1' '-O2 -fno-omit-frame-pointer' '-O2 -fcf-protection'; do
    found=
    for where in 8 12 16 20 24 28; do # where that is depends on how frames are laid out
        quipu cc --quipu=watch -w $options -DWHERE=$where -g program.c -o program ||
            fail "cannot build with $options"
        [[ $(./program stray) == 1 ]] || continue
        found=$where
        watches 0 -e owner::x --if 'new == 77' -- ./program stray
        [[ $(grep -c ' stray *program\.c:' hits) -eq 1 ]] || fail "$options, $where: $(head hits)"
    done
    [[ -n $found ]] || fail "$options: no store leaves its frame"
    watches 0 -e 'pushes::kept' -- ./program pushes
    [[ $(cat output) == '1 1' ]] || fail "$options: $(cat output)"
    [[ $(grep -c 'pushes::kept .*mov' hits) -eq 5 ]] || fail "$options: $(cat hits)"
    quipu cc --quipu=watch -w $options -DWHERE=0 -DHAS_STACKS -g program.c -o program ||
        fail "cannot build with $options"
    watches 0 -e 'holder::room' -- ./program
    grep -q ' on_other_stack .*mov' hits || fail "$options: a stack in a local: $(head hits)"
    grep -Eq ' on_other_stack .*(push|call)' hits || fail "$options: its pushes: $(head hits)"
done

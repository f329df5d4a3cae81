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

# a stack for signals, or of a thread, in a local: also once there was another thread
cat >stacks.c <<'END'
#include <pthread.h>
#include <signal.h>
#include <string.h>

static __attribute__((noinline)) int leaf(int k) {
    volatile int a = k;
    return a;
}

static void on_signal(int number) {
    volatile int local = number;
    local = leaf(local);
}

static void *run(void *argument) {
    leaf(3);
    return argument;
}

static __attribute__((noinline)) int holder(int of_thread) {
    char room[65536] __attribute__((aligned(16)));
    pthread_attr_t attributes;
    pthread_t thread;
    stack_t there = {.ss_sp = room, .ss_size = sizeof room};
    if (of_thread) {
        pthread_attr_init(&attributes);
        pthread_attr_setstack(&attributes, room, sizeof room);
        return pthread_create(&thread, &attributes, run, NULL) || pthread_join(thread, NULL);
    }
    sigaltstack(&there, NULL);
    raise(SIGUSR1);
    return 0;
}

static void *call_holder(void *argument) {
    holder(0);
    return argument;
}

int main(int argc, char **argv) {
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
    pthread_t thread;
    sigaction(SIGUSR1, &action, NULL);
    if (argc > 1 && (pthread_create(&thread, NULL, run, NULL) || pthread_join(thread, NULL)))
        return 1;
    if (argc > 1 && strcmp(argv[1], "inside") == 0)
        return pthread_create(&thread, NULL, call_holder, NULL) || pthread_join(thread, NULL);
    return holder(argc > 1 && strcmp(argv[1], "thread") == 0);
}
END
for options in -O2 '-O0 -fno-plt'; do
    quipu cc --quipu=watch $options -g -pthread stacks.c -o stacks || fail "cannot build with $options"
    for how in '' behind inside thread; do
        watches 0 -e holder::room -- ./stacks $how
        grep -q ' leaf .*mov' hits || fail "$options, $how: $(head hits)"
        grep -q 'call leaf' hits || fail "$options, $how: no call: $(head hits)"
    done
done

# assembly in a function, which has the stack pointer where the caller's frame is
cat >raises.c <<'END'
__attribute__((naked, noinline)) static void raises(void) {
    __asm__ volatile("pop %r11; add $24, %rsp; pushq $101; pushq $102; pushq $103; push %r11; ret");
}
__attribute__((noinline)) static int owner(void) {
    volatile long x[8] = {0};
    raises();
    return (int)(x[0] + x[1] + x[2]);
}
int main(void) {
    return owner() != 306;
}
END
for options in -O2 '-O2 --quipu-watch=all'; do
    quipu cc --quipu=watch $options -g raises.c -o raises || fail "cannot build with $options"
    watches 0 -e owner::x -- ./raises
    [[ $(grep -c ' raises .*push' hits) -eq 3 ]] || fail "$options: $(cat hits)"
done

# frames that longjmp leaves, whose setjmp is called by its slot
cat >jumps.c <<'END'
#include <setjmp.h>
static jmp_buf landing;
__attribute__((noinline)) static void jumper(int n) {
    volatile long j = n;
    j++;
    if (n == 0)
        longjmp(landing, 1);
    jumper(n - 1);
    j = 99;
}
__attribute__((noinline)) static long after(int n) {
    volatile long a[8];
    for (int i = 0; i < 8; i++)
        a[i] = n + i;
    return a[n & 7];
}
int main(void) {
    if (!setjmp(landing))
        jumper(2);
    return after(3) != 6;
}
END
for options in -fno-plt -fplt; do
    quipu cc --quipu=watch -O1 $options -g jumps.c -o jumps || fail "cannot build with $options"
    watches 0 -e jumper::j -- ./jumps
    [[ $(wc -l <hits) -eq 6 ]] || fail "$options: $(cat hits)"
done

# a shared object that is loaded again, at the same address mostly
echo 'int plug(int n) { volatile int local = n; local++; return local; }' >plugin.c
cat >loader.c <<'END'
#include <dlfcn.h>
int main(void) {
    for (int i = 1; i < 4; i++) {
        void *plugin = dlopen("./plugin.so", RTLD_NOW);
        if (((int (*)(int))dlsym(plugin, "plug"))(i) != i + 1)
            return 1;
        dlclose(plugin);
    }
    return 0;
}
END
quipu cc --quipu=watch -O1 -g -fPIC -shared plugin.c -o plugin.so || fail "cannot build 'plugin.so'"
quipu cc --quipu=watch -O1 -g loader.c -o loader || fail "cannot build 'loader'"
watches 0 -e './plugin.so:plug::local' -- ./loader
[[ $(wc -l <hits) -eq 6 ]] || fail "a module that comes again: $(cat hits)"

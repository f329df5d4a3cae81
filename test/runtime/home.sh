#!/bin/bash
# home.sh: the first thread's cells lie over the static ones, so that its base of %gs is 0; others'
# lie elsewhere.  A thread that can get none does not touch the first one's counts.
. "$(dirname "$0")/common.sh.inc"
export PATH=${QUIPU_BUILD:?}/bin:$PATH

cat >program.c <<'EOF'
#include <asm/prctl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 100 };

static const char *base(void) {
    unsigned long value = 1;
    syscall(SYS_arch_prctl, ARCH_GET_GS, &value);
    return value ? "elsewhere" : "home";
}

static volatile int last;

__attribute__((noinline, noclone)) static void work(int n) {
    while (n-- > 0)
        last = n * 5;
}

__attribute__((noinline, noclone)) static void noise(int n) {
    while (n-- > 0)
        last = n ^ 5;
}

static void *start(void *argument) {
    noise(100000);
    printf("thread %s\n", base());
    fflush(stdout);
    (void)argument;
    if (fork() == 0) {
        work(10);
        printf("child of a thread %s\n", base());
        fflush(stdout);
        _exit(0);
    }
    wait(NULL);
    return NULL;
}

/* More threads at a time than there are slots in a file that must not grow. */
static void *start_many(void *argument) {
    noise(10000);
    pthread_barrier_wait(argument);
    return NULL;
}

static void run_many(bool limited) {
    static pthread_t threads[THREADS];
    pthread_barrier_t all;
    struct rlimit limit = {20000, 20000};
    if (limited)
        setrlimit(RLIMIT_FSIZE, &limit);
    pthread_barrier_init(&all, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, start_many, &all);
    for (int i = 0; i < 10000; i++)
        work(1000);
    pthread_barrier_wait(&all);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

int main(int count, char **arguments) {
    pthread_t thread;
    if (count > 1) {
        run_many(strcmp(arguments[1], "limited") == 0);
        return 0;
    }
    printf("main %s\n", base());
    fflush(stdout);
    pthread_create(&thread, NULL, start, arguments);
    pthread_join(thread, NULL);
    if (fork() == 0) {
        work(100);
        printf("child %s\n", base());
        fflush(stdout);
        _exit(0);
    }
    wait(NULL);
    return 0;
}
EOF

# executed FUNCTION DATA: instructions executed in it.
executed() {
    quipu report --by=function --format=csv "$2" | awk -F, -v name="$1" '
        NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i }
        $column["name"] == name { sum += $column["instructions"] }
        END { print sum + 0 }'
}

for options in '' -static -static-pie -no-pie '-Wl,--gc-sections'; do
    quipu cc -O2 -pthread $options program.c -o program || fail "$options: cannot compile"
    rm -rf data limited whole
    QUIPU_DATA=data ./program >output || fail "$options: status $?"
    printf '%s\n' 'child home' 'child of a thread elsewhere' 'main home' 'thread elsewhere' >wanted
    sort output | diff - wanted >difference || fail "$options: $(cat difference)"
    test "$(ls data | wc -l)" = 3 || fail "$options: $(ls data)"
    test "$(executed noise data)" -gt 300000 || fail "$options: noise $(executed noise data)"
    QUIPU_DATA=limited ./program limited >output 2>errors || fail "$options: limited: status $?"
    grep -q "the counts of some threads are lost" errors || fail "$options: $(cat errors)"
    QUIPU_DATA=whole ./program whole || fail "$options: whole: status $?"
    test "$(executed work limited)" = "$(executed work whole)" ||
        fail "$options: limited: work $(executed work limited), not $(executed work whole)"
    test "$(executed noise limited)" -lt "$(executed noise whole)" || fail "$options: no noise is lost"
done
exit 0

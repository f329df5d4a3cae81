#!/bin/bash
# Threads that run at the same time: whatever their order is, the moment is that of the write.  The
# program says its own moment and the word's value right in front of each write, in one line each; the
# last line that it has written must be of the moment that 'quipu when' names.
. "$(dirname "$0")/../bad/lib.bash"
needs_debug_registers
include=$(cd "$(dirname "$0")/../../include" && pwd)
make_program program --quipu=moment -g -O1 -pthread -I "$include" <<'EOT2'
#include <pthread.h>
#include <quipu.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

volatile long total;
volatile int waiting = 1, spun, signals;
long words[6];
char text[64];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) static void add(long n) {
    char line[80];
    pthread_mutex_lock(&lock);
    struct quipu_moment now = quipu_now();
    int length = snprintf(line, sizeof line, "line %lu/%u %ld\n", (unsigned long)now.ticks,
                          now.thread, total);
    if (write(1, line, (size_t)length) < 0)
        abort();
    total += n;
    pthread_mutex_unlock(&lock);
}

static void on_signal(int number) {
    (void)number;
    signals++;
}

static void *start(void *argument) {
    long n = (long)argument;
    while (n == 4 && waiting) /* for main; nothing else lets it go on */
        spun = 1;
    for (int i = 0; i < 300; i++) {
        add(n);
        if (i == 100 && n == 3) {
            memset(words, 7, sizeof words);
            pthread_kill(pthread_self(), SIGUSR1);
        }
        if (i % 50 == 0)
            usleep(1000);
    }
    return argument;
}

static void give(void) {
    int ends[2], status;
    char *arguments[] = {"true", NULL};
    if (pipe(ends) || write(ends[1], "hello", 5) != 5 || read(ends[0], text + 8, 5) != 5)
        abort();
    pid_t child = fork();
    if (child == 0)
        _exit(3);
    waitpid(child, &status, 0);
    child = vfork();
    if (child == 0) {
        execv("/bin/true", arguments);
        _exit(1);
    }
    waitpid(child, &status, 0);
}

int main(void) {
    pthread_t threads[4];
    signal(SIGUSR1, on_signal);
    for (long i = 0; i < 4; i++)
        if (pthread_create(&threads[i], NULL, start, (void *)(i + 1)))
            return 1;
    while (!spun)
        ;
    waiting = 0;
    give();
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    printf("line sum %ld\n", total);
    return 0;
}
EOT2
when() {
    ends 0 quipu when --format=json "$@" -- ./program
    grep '^line' output >lines
    grep -v '^line' output >found
}
# field NAME: of what was found
field() {
    python3 -c "import json, sys; print(json.load(open('found'))[sys.argv[1]])" "$1"
}
for bound in 0 1 500 1501 2222 2999; do
    when "total > $bound"
    read -r _ moment value <<<"$(tail -n 1 lines)"
    [[ $(field ticks)/$(field thread) == "$moment" ]] || fail "total > $bound: $moment: $(cat found)"
    [[ $value -le $bound ]] || fail "total > $bound: it was $value"
    [[ $(field moment) == add+* ]] || fail "$(cat found)"
    python3 -c "
import json
change = json.load(open('found'))['values'][0]
assert int(change['before']) == $value <= $bound < int(change['after']), change" || fail "$(cat found)"
done
when 'words[4] != 0' # by memset, or code in its place
[[ $(field line) == program.c:* || $(field caller) == start* ]] || fail "$(cat found)"
when 'text[9] == 101' # by the kernel
[[ $(field instruction) == syscall && $(field caller) == give* && $(field thread) == 1 ]] ||
    fail "$(cat found)"
when 'signals == 1'
[[ $(field moment) == on_signal+* ]] || fail "$(cat found)"
when '!waiting'
[[ $(field moment) == main+* && $(field thread) == 1 ]] || fail "$(cat found)"
ends 1 quipu when 'total > 3000' -- ./program
said "true at none of"
grep -q 'line sum 3000' output || fail "$(tail -n 1 output)"
[[ $(wc -l <output) -eq 1201 ]] || fail "$(wc -l <output) lines"
refuses "at most four words" -- \
    quipu when 'words[0] + words[1] + words[2] + words[3] + words[4] == 1' -- ./program
# the first thread ends before the others
make_program leaver --quipu=moment -g -O1 -pthread <<'EOT2'
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
volatile long n;
static void *start(void *argument) {
    (void)argument;
    usleep(3000);
    for (int i = 0; i < 100; i++)
        n++;
    if (vfork() == 0)
        _exit(0);
    for (int i = 0; i < 100; i++)
        n++;
    exit(4);
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, start, NULL);
    pthread_exit(NULL);
}
EOT2
for bound in 77 155; do
    ends 0 quipu when "n == $bound" -- ./leaver
    grep -q "moment *start+.*/2~" output || fail "leaver: $(cat output messages)"
    grep -q "n  *$((bound - 1)), then $bound" output || fail "leaver: $(cat output messages)"
done
refuses "true at none of" "exit status 4" -- quipu when 'n == 201' -- ./leaver
# ends of all kinds, with threads that do not stop by themselves
make_program ender --quipu=moment -g -O1 -pthread <<'EOT2'
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>
volatile long n;
static char stack[65536];
static void *start(void *argument) {
    for (;;)
        if (argument)
            return argument;
}
static int child(void *argument) {
    return argument != NULL;
}
int main(int argc, char **argv) {
    pthread_t thread;
    for (int i = 0; i < 3; i++)
        pthread_create(&thread, NULL, start, NULL);
    usleep(10000);
    switch (argc > 1 ? argv[1][0] : 0) {
    case 'k':
        kill(getpid(), SIGKILL);
        break;
    case 'f':
        *(volatile int *)16 = 1;
        break;
    case 'e':
        execlp("true", "true", NULL);
        break;
    case 'c':
        clone(child, stack + sizeof stack - 64, CLONE_VM, NULL);
        break;
    case 's':
        raise(SIGSTOP);
        break;
    }
    n++;
    return 3;
}
EOT2
refuses "exit status 3" -- quipu when 'n == 2' -- ./ender
refuses "exit status 3" -- quipu when 'n == 2' -- ./ender stop
refuses "signal 9" -- quipu when 'n == 2' -- ./ender kill
refuses "signal 11" -- quipu when 'n == 2' -- ./ender fault
refuses "another program" -- quipu when 'n == 2' -- ./ender exec
refuses "may share its memory" -- quipu when 'n == 2' -- ./ender clone
running=$(grep -lz "^./\(program\|leaver\|ender\)" /proc/[0-9]*/cmdline 2>/dev/null | while read -r file; do
    [[ $(readlink "${file%cmdline}cwd") != "$PWD" ]] || echo "$file"; done)
[[ -z $running ]] || fail "left running: $running"

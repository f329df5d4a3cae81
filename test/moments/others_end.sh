#!/bin/bash
# Threads end, processes are forked, and a thread makes an exec, just when the moment comes.  Where the
# program is handed over, no thread is left that still belongs to quipu, as one does whose end was not waited for (gdb tries for
# ever to attach to it), and no child, which would be killed with it.
. "$(dirname "$0")/../bad/lib.bash"
needs_debug_registers
make_program program --quipu=moment -O1 -g -pthread "-I$(dirname "$quipu")/../include" <<'EOT'
#include <pthread.h>
#include <quipu.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
enum { ROUNDS = 40, MARKS = 3, FORKERS = 4 };
volatile int marks;
static char texts[ROUNDS * MARKS][128];
static void *end_at_once(void *argument) {
    return argument;
}
static void *become_true(void *argument) {
    usleep(300);
    execl("/bin/true", "true", (char *)NULL);
    return argument;
}
static void *fork_on(void *argument) {
    for (;;)
        if (fork() == 0) {
            usleep(100000);
            _exit(0);
        }
    return argument;
}
__attribute__((noipa)) static void mark(void) {
    struct quipu_moment now = quipu_now();
    quipu_print_moment(&now, texts[marks], sizeof texts[marks]);
    marks++;
}
__attribute__((noipa)) static void mark_again(void) {
    marks++;
}
int main(int argc, char **argv) {
    pthread_t thread;
    pthread_attr_t detached;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    (void)argv;
    if (argc > 2 && pthread_create(&thread, &detached, become_true, NULL))
        return 1;
    while (argc > 2)
        mark_again();
    for (int i = 0; argc > 1 && i < FORKERS; i++)
        if (pthread_create(&thread, &detached, fork_on, NULL))
            return 1;
    for (int i = 0; i < ROUNDS; i++) {
        if (argc == 1 && pthread_create(&thread, &detached, end_at_once, NULL))
            return 1;
        for (int k = 0; k < MARKS; k++)
            mark();
    }
    for (int i = 0; i < ROUNDS * MARKS; i++)
        puts(texts[i]);
    fflush(stdout);
    _exit(0);
}
EOT
cat >look.sh <<'EOT'
# Names each thread of QUIPU_PID that is traced, and each child of its that is, or stands.
cat /proc/"$QUIPU_PID"/task/*/status /proc/[0-9]*/status 2>/dev/null | awk -v process="$QUIPU_PID" '
    $1 == "State:" { state = $2 }
    $1 == "Tgid:" { ours = $2 == process }
    $1 == "Pid:" { number = $2 }
    $1 == "PPid:" { child = $2 == process }
    $1 == "TracerPid:" && ours && $2 { print "left: thread", number, state }
    $1 == "TracerPid:" && child && ($2 || state ~ /[tT]/) { print "left: child", number, state }'
EOT
# none_left COMMAND...: the command says no word of look.sh's.
none_left() {
    ends 0 timeout 60 "$@"
    ! grep -q '^left:' output || fail "'$*': $(cat output)"
}
./program >moments
[[ $(wc -l <moments) -eq 120 ]] || fail "the program printed: $(cat moments)"
for n in {61..119..2}; do
    none_left quipu goto --exec='sh look.sh' "$(sed -n "${n}p" moments)" -- ./program
done
for n in {61..65}; do
    none_left quipu when --exec='sh look.sh' "marks == $n" -- ./program
done
./program fork >moments
for n in {61..72}; do
    none_left quipu goto --exec='sh look.sh' "$(sed -n "${n}p" moments)" -- ./program fork
done
# The thread that makes the exec loses its number, which must not be waited for.
for n in {1..30}; do
    status=0
    timeout 20 quipu goto --print mark_again@1001 -- ./program become true >output 2>messages || status=$?
    [[ $status -eq 0 ]] || said "by exec"
done

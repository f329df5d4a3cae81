#!/bin/bash
# Hits whose writers wait for an answer: a signal handler's may come while the interrupted code's own
# is under way. The run ends, and all are told.
# timeout: 120
. "$(dirname "$0")/lib.bash"
cat >program.c <<'EOT'
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
enum { TIMES = 4000 };
volatile long in_loop, in_handler, apart[8];
static volatile sig_atomic_t handled;
static void handle(int signal) {
    in_handler++;
    handled++;
}
int main(void) {
    int parent = getpid();
    signal(SIGUSR1, handle);
    if (!fork()) {
        for (int i = 0; i < 4 * TIMES && getppid() == parent; i++)
            kill(parent, SIGUSR1);
        _exit(0);
    }
    for (long i = 0; i < TIMES; i++)
        in_loop = i;
    while (wait(0) < 0)
        ;
    printf("%d\n", (int)handled);
    return 0;
}
EOT
quipu cc --quipu=watch -O1 -g program.c -o program || fail "cannot build"
while read -r status options; do
    # shellcheck disable=SC2086
    ends "$status" timeout -s KILL 50 quipu watch --log=log $options -- ./program
    handled=$(tail -n 1 output)
    in_loop=$(grep -c ' in_loop  ' log)
    in_handler=$(grep -c ' in_handler  ' log)
    [[ $in_loop -eq 4000 && $in_handler -eq $handled && $handled -gt 0 ]] ||
        fail "$options: $in_loop of 4000 in the loop, $in_handler of $handled in the handler: $(head -n 3 log)"
done <<'EOT'
0 -e in_loop -e in_handler
0 --if in_handler>=0 -e in_loop -e in_handler
0 --backtrace -e in_loop -e in_handler
1 --guard in_handler --guard in_loop --allow nobody
EOT

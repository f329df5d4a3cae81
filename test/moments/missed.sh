#!/bin/bash
# Where a moment is missed, 'quipu goto' tells where the run went: at the moment's ticks, by the place
# with other ones, and where the thread has ended: by itself, by exit, by a signal, and before others.
. "$(dirname "$0")/../bad/lib.bash"
make_program program --quipu=moment -O1 -g -pthread <<'EOT'
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
volatile int sum;
__attribute__((noipa)) static void rare(void) { sum++; }
__attribute__((noipa)) static void often(int n) {
    for (int i = 0; i < n; i++)
        sum += i;
}
__attribute__((noipa)) static void leave(int how) {
    if (how == 'e')
        exit(3);
    if (how == 'a')
        abort();
}
static void *start(void *argument) {
    often(100);
    if (((char *)argument)[1] == 'k')
        raise(SIGKILL);
    return argument;
}
int main(int argc, char **argv) {
    pthread_t thread;
    rare();
    often(6000);
    rare();
    often(argc > 2 ? 60000 : 10);
    if (argc > 1 && *argv[1] == 't' && pthread_create(&thread, NULL, start, argv[1]) == 0)
        pthread_join(thread, NULL);
    leave(argc > 1 ? *argv[1] : 0);
    return 0;
}
EOT
# tells MOMENT PATTERN ARGUMENT...
tells() {
    ends 1 timeout 60 quipu goto --print "$1" -- ./program "${@:3}"
    [[ $(wc -l <messages) -eq 1 ]] || fail "$1: $(cat messages)"
    grep -qE -- "$2" messages || fail "$1: not '$2': $(cat messages)"
}
first=$(for ((tick = 0; tick < 20; tick++)); do
    quipu goto --print "rare@$tick" -- ./program >/dev/null 2>&1 && echo "$tick"; done)
second=$(for ((tick = first + 6000; tick < first + 6020; tick++)); do
    quipu goto --print "rare@$tick" -- ./program >/dev/null 2>&1 && echo "$tick"; done)
[[ $first && $second ]] || fail "rare is at '$first', '$second'"
tells "rare@$((second - 3))" \
    "not there at tick $((second - 3)), but in '(often|main|rare)' \(program.c:[0-9]+\); it came by only at tick $second; the program does not repeat itself" x y
tells "rare@$((second + 2))" "in 'often' \(.*; it came by last at tick $second; " x y
tells "rare@$((first + 2000))" "in 'often' \(program.c:[789]\); it did not come by near that tick; " x y
tells "rare@$((first + 2))" "in 'often' .*it came by last at tick $first; "
tells "rare@$((second + 2))" "it came by last at tick $second; .*; the program has ended \(exit status 0\)"
tells "rare@900000" "ended \(exit status 0\) before that moment: the thread ended at tick [0-9]+$"
tells "rare@900000" "ended \(exit status 3\) before that moment: the thread ended at tick [0-9]+ in 'leave' \(program.c:12\)" e
tells "rare@900000" "ended \(signal 6\) before that moment: the thread ended at tick [0-9]+ in 'leave' \(program.c:14\)" a
tells "often@800/2" "ended \(exit status 0\) before that moment: the thread ended at tick [0-9]+" t
grep -q 'it came by last at tick' messages || fail "$(cat messages)"
tells "often@800/2" "ended \(signal 9\) before that moment: the thread ended at tick [1-9][0-9]* in 'start'" tk

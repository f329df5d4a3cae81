#!/bin/bash
# trace_moments_stopped.sh: 'quipu trace --from' judges a buffer's records by the modules of their process also
# if it finds the buffer full and the last module's description at once, the buffer first. So it is here,
# as the program stops its parent from its library's constructor up to its end.
. "$(dirname "$0")/lib.bash"

cat >library.c <<'C'
#include <signal.h>
#include <unistd.h>
__attribute__((constructor)) static void stop(void) {
    kill(getppid(), SIGSTOP);
}
int mix(int x) {
    return x * 1103515245 + 12345;
}
C
cat >program.c <<'C'
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
int mix(int);
__attribute__((noinline)) static int early(int x) {
    while (x > 100)
        x /= 2;
    return x;
}
int main(int argc, char **argv) {
    int x = early(argc * atoi(argv[1]));
    for (int i = 0; i < 40000; i++)
        x = mix(x);
    kill(getppid(), SIGCONT);
    return x == 0;
}
C
"$quipu" cc --quipu=moment,trace -O2 -g -fPIC -shared library.c -o liblibrary.so &&
    "$quipu" cc --quipu=moment,trace -O2 -g program.c -o program -L. -llibrary -Wl,-rpath,"$work" || fail "cannot build"
"$quipu" trace -o whole.trace -- ./program 9999 || fail "cannot record"
"$quipu" print --moments whole.trace >rows
[ "$(stat -c %s rows)" -gt 1000000 ] || fail "too few rows"
moment=$(awk '/^early/ && ++n == 9 { print $1; exit }' rows)
"$quipu" trace --from="$moment" -o from.trace -- ./program 9999 || fail "cannot record from $moment"
[ "$("$quipu" print --moments from.trace | awk '/@/ { print $1; exit }')" = "$moment" ] || fail "not from $moment"

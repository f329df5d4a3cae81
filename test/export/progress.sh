#!/bin/bash
# A bar tells how far reading is, on a terminal and where it takes long: of many data files, and of
# one.  Nothing is left of it behind the output.  Elsewhere it is a line now and then, and none where
# it takes no time.
. "$(dirname "$0")/lib.bash"

# Time goes by faster: half a second at each look.
cat >clock.c <<'EOT2'
#include <time.h>
int clock_gettime(clockid_t clock, struct timespec *now) {
    static long halves;
    (void)clock;
    halves++;
    now->tv_sec = halves / 2;
    now->tv_nsec = halves % 2 * 500000000;
    return 0;
}
EOT2
gcc -shared -fPIC -o clock.so clock.c

cat >program.c <<'EOT2'
int main(void) {
    return 0;
}
EOT2
quipu cc -O2 -g program.c -o program || fail "cannot build"
for _ in 1 2 3; do
    ./program
done
one=(quipu.data/*.quipu)

# draws FILE COMMAND...: FILE is what a terminal gets of it
draws() {
    local file=$1
    shift
    TERM=${terminal-xterm} script -qec "LD_PRELOAD=./clock.so $*" /dev/null </dev/null | tr '\r' '\n' >"$file"
}

draws many quipu report
grep -qF 'reading data files [#############...........................] 33%' many || fail "$(cat many)"
grep -qF 'reading counts [' many || fail "many: $(cat many)"
draws single quipu report "${one[0]}"
grep -qE 'reading lines \[#*\.*\] [0-9]+%' single || fail "single: $(cat single)"
last=$(grep -v '^$' single | tail -n 1)
[[ $last == *total* ]] || fail "the bar is left: $last"
terminal=dumb draws dumb quipu report
grep -q '^quipu: reading [a-z ]*: [0-9]* of [0-9]*$' dumb || fail "no line: $(cat dumb)"
! grep -q "$(printf '\033')" dumb || fail "a terminal that knows no escape sequences: $(cat dumb)"
LD_PRELOAD=./clock.so quipu report >/dev/null 2>plain || fail "no terminal: $(cat plain)"
grep -q '^quipu: reading [a-z ]*: [0-9]* of [0-9]*$' plain || fail "no line: $(cat plain)"
[[ $(wc -l <plain) -lt 10 ]] || fail "too many lines: $(cat plain)"
quipu report 2>soon >/dev/null || fail "$(cat soon)"
[[ ! -s soon ]] || fail "it is told too soon: $(cat soon)"

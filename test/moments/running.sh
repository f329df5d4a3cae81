#!/bin/bash
# What 'quipu moment' says of a running process is a moment that 'quipu goto' reaches, also where the
# thread is in a routine of the runtime which was called in front of an increment, or on its way to
# another function through the linker's table.
# timeout: 200
. "$(dirname "$0")/lib.bash"
cat >program.c <<'EOT'
#include <stdlib.h>
volatile long sum;
__attribute__((noinline, noclone)) int small(int x) {
    if (x & 1)
        sum += x;
    return x ^ 5;
}
__attribute__((noinline, noclone)) int leaf(int x) {
    return small(x) + small(x + 1);
}
#ifdef MAIN
int main(void) {
    long s = 0;
    for (long i = 0; i < 2000000000; i++)
        s += leaf(i);
    return s == 42;
}
#endif
EOT
sed 's/#ifdef MAIN/int leaf(int);\n#if 1/; /noinline/,/^}/d' program.c >main.c
sample() {
    local process sample reached=0
    "./$1" &
    process=$!
    awaits runs $process "$1"
    sleep 0.1
    for sample in 1 2 3 4 5 6 7 8; do
        "$quipu" moment $process >>samples || fail "$1: sample $sample failed"
    done
    kill $process
    wait $process 2>/dev/null
    while read -r moment _; do
        [[ $moment != outside@* ]] || continue # the module's code is not on the stack
        timeout 60 "$quipu" goto --print "$moment" -- "./$1" </dev/null >/dev/null 2>messages ||
            fail "$1: $moment: $(cat messages)"
        reached=$((reached + 1))
    done <samples
    [[ $reached -ge 6 ]] || fail "$1: $reached samples"
    rm samples
}
while read -r modes plt; do
    "$quipu" cc --quipu=$modes -O2 -g -DMAIN program.c -o program || fail "cannot build"
    sample program
    "$quipu" cc --quipu=$modes -O2 -g -fPIC $plt -shared program.c -o libsmall.so || fail "cannot build"
    "$quipu" cc --quipu=$modes -O2 -g main.c -L. -lsmall -Wl,-rpath,"$PWD" -o shared || fail "cannot build"
    sample shared
done <<'EOT'
moment
moment -fno-plt
moment,calls
event,moment,calls -fno-plt
EOT

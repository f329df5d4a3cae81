#!/bin/bash
# Loops that run without checks: a region that appears meanwhile is seen by the next turn, and loops
# are as fast as before when it is gone.
. "$(dirname "$0")/lib.bash"
for flags in -O0 -O1 -O2 -O3 '-O2 -fno-pie -no-pie' '-O2 -static'; do
    quipu cc --quipu=watch $flags -g -pthread -I"$top" -I"$top/src" "$top/test/watch/parts/loops.c" -o loops ||
        fail "cannot build with $flags"
    for way in handler thread another longjmp again; do
        [[ "$flags $way" != "-O0 another" ]] || continue # its addresses are in memory
        for shape in loop nest; do
            timeout 60 ./loops $way $shape >said 2>&1 ||
                fail "$flags: $way, $shape: status $?: $(cat said)"
        done
    done
done

# where there is no shadow, ranges cannot be looked at
quipu cc --quipu=watch -O2 -g -pthread -I"$top" -I"$top/src" "$top/test/watch/parts/loops.c" -o narrow
for way in handler thread another longjmp again; do
    prlimit --as=2000000000 timeout 60 ./narrow $way nest >said 2>&1 ||
        fail "narrow: $way: status $?: $(cat said)"
done

# in a shared object, whose words are found in another way
quipu cc --quipu=watch -O2 -g -pthread -fPIC -shared -Dmain=library_main -I"$top" -I"$top/src" \
    "$top/test/watch/parts/loops.c" -o libloops.so || fail "cannot build the library"
echo 'int library_main(int, char **); int main(int c, char **v) { return library_main(c, v); }' >main.c
quipu cc --quipu=watch -O2 -g main.c -L. -lloops -Wl,-rpath,"$PWD" -o main || fail "cannot build main"
gcc -O2 main.c -L. -lloops -Wl,-rpath,"$PWD" -o plain || fail "cannot build plain"
for program in main plain; do
    for way in handler thread another longjmp again; do
        timeout 60 ./$program $way nest >said 2>&1 || fail "$program: $way: status $?: $(cat said)"
    done
done

# one that never ends is watched from outside
for flags in -O0 -O2; do
    quipu cc --quipu=watch $flags -g "$top/test/watch/parts/endless.c" -o endless || fail "cannot build"
    ./endless &
    running=$!
    trap 'kill -KILL $running' EXIT
    awaits is_ready $running
    for name in 'cells[5]' lonely; do
        ends 0 timeout 60 quipu watch --pid $running --limit 20 -e "$name"
        [[ $(grep -c ' run ' messages) -eq 20 ]] || fail "$flags: $name: $(cat messages)"
    done
    kill -KILL $running
    wait $running 2>/dev/null
    trap - EXIT
done

# one that turns a fault into an exception stays where it is
quipu-c++ --quipu=watch -O2 -g -fnon-call-exceptions "$top/test/watch/parts/loops_faults.cc" -o faults ||
    fail "cannot build faults"
[[ $(./faults) == '0 7' ]] || fail "faults: $(./faults)"

# regions that come and go between loops: the same is told as with all checks
for flags in -O1 -O2 -O3 '-O2 -fno-tree-vectorize -fno-ivopts'; do
    for loops in ranges far; do
        for way in all eliminate; do
            quipu cc --quipu=watch --quipu-watch=$way $flags -g -I"$top/include" \
                -DLOOPS="\"../$loops.c\"" "$top/test/watch/parts/ranges.c" -o ranges ||
                fail "cannot build $loops with $flags"
            ends 0 timeout 60 ./ranges
            mv output said.$way
        done
        [[ $(cut -d' ' -f1 said.all) -gt 10000 ]] || fail "$loops: $(cat said.all)"
        cmp said.all said.eliminate ||
            fail "$loops, $flags: $(cat said.all) with all checks, $(cat said.eliminate)"
    done
done

#!/bin/bash
# What 'quipu info' tells of checks, and of what is watched in a process that runs.
. "$(dirname "$0")/lib.bash"
cat >sleeper.c <<'END_OF_SOURCE'
int variable;
/* pause() without the C library, forever */
int main(int argc, char **argv) {
    (void)argv;
    while (argc) {
        long result = 34;
        __asm__ volatile("syscall" : "+a"(result) : : "rcx", "r11", "memory");
    }
    variable = 1;
    return 0;
}
END_OF_SOURCE
quipu cc --quipu=watch -O2 -g sleeper.c -o program || fail "cannot build"
quipu cc --quipu=count -O2 -g sleeper.c -o counted || fail "cannot build"
ends 0 quipu info program
grep -qE '^  checks +[1-9][0-9]*; left out until they are needed: 1 of variables, [0-9]+ of the stack$' \
    output || fail "$(cat output)"
ends 0 quipu info counted
! grep -q checks output || fail "not built for it: $(cat output)"
ends 0 quipu info --format=json program
python3 -c "
import json
(binary,) = json.load(open('output'))['binaries']
assert binary['checks'] >= 1 and binary['checks_of_variables'] == 1, binary" || fail "$(cat output)"

./program &
running=$!
awaits is_ready $running
ends 0 quipu info --pid $running
grep -q "regions  *0 watched$" output && grep -q "shadow .*reserved" output || fail "$(cat output)"
quipu watch --pid $running -e variable -e 0x400000:8 &
watcher=$!
until grep -q "regions  *2 watched; process $watcher is told" < <(quipu info --pid $running); do
    kill -0 $watcher || fail "no regions: $(quipu info --pid $running)"
    sleep 0.05
done
ends 0 quipu info --format=json --pid $running
python3 -c "
import json
(running,) = json.load(open('output'))['running']
assert running['regions'] == 2 and running['consumer'] == $watcher and running['shadow'], running" ||
    fail "$(cat output)"
kill -TERM $watcher
wait $watcher || fail "status $?"
ends 0 quipu info --pid $running
grep -q "regions  *0 watched$" output || fail "$(cat output)"
kill $running
{ wait $running; } 2>/dev/null

# where the kernel refuses the shadow's addresses
(ulimit -v 4000000 && exec ./program) &
running=$!
awaits is_ready $running
ends 0 quipu info --pid $running
grep -q "shadow .*refused" output || fail "$(cat output)"
kill $running
{ wait $running; } 2>/dev/null

./counted &
running=$!
awaits runs $running counted
refuses "process $running" "--quipu=watch" -- quipu info --pid $running
kill $running
{ wait $running; } 2>/dev/null
refuses "there is none" -- quipu info --pid 999999999
leaves_nothing

#!/bin/bash
# 'quipu watch --pid': a program that runs already is watched, and left as it was: its threads wait in
# the kernel, compute, and write.  Fifty times, with errors that do no harm.
. "$(dirname "$0")/lib.bash"
cp "$top/test/watch/parts/running.c" .
quipu cc --quipu=watch -O2 -g -pthread running.c -o running || fail "cannot build"
cp running program # for leaves_nothing
mkfifo input

# begin PROGRAM [ARGS]: sets running to its number; its input stays open.
begin() {
    (
        "$@" <input >said 2>&1
        echo "status $?" >>said
    ) &
    local shell=$!
    exec 7>input
    until grep -q ready said 2>/dev/null; do sleep 0.01; done
    running=$(tr -d " " </proc/$shell/task/$shell/children)
}

# finish: it ends as it does without.
finish() {
    printf 'a\nb\n' >&7
    sleep 0.1
    exec 7>&-
    wait
    [[ $(cat said) == $'ready\n2 lines, beats many, product right\nstatus 7' ]] ||
        fail "watched, it says: $(cat said)"
    rm said
}

# watch_until COMMAND ARGS...: when the command succeeds, it is left by SIGTERM, with status 0.
watch_until() {
    rm -f hits
    quipu watch --log=hits --pid "$running" "${@:2}" 2>messages &
    local watcher=$!
    # shellcheck disable=SC2086  # it has words
    awaits $1
    kill -TERM $watcher || fail "'${*:2}' has ended: $(cat messages)"
    wait $watcher || fail "'${*:2}': status $?: $(cat messages)"
    [[ ! -s messages ]] || fail "'${*:2}' said: $(cat messages)"
}

# has_hits NUMBER: there are that many lines of them, or more.
has_hits() {
    [[ -e hits && $(wc -l <hits) -ge $1 ]]
}

begin ./running
watch_until "has_hits 25" -e beats -e unused
python3 - <<'EOT' || fail "hits: $(head hits)"
import re
lines = open('hits').read().splitlines()
assert len(lines) > 20, len(lines)
values = [tuple(map(int, re.search(r'beats +(\d+) -> (\d+) ', line).groups())) for line in lines]
assert all(new == old + 1 for old, new in values)
assert all(a[1] == b[0] for a, b in zip(values, values[1:])), 'one is missing'
EOT
watch_until "sleep 0.5" --summary -e 'head->value' -e product
grep -q ' tick .*head->value' hits && grep -q ' compute .*product' hits || fail "summary: $(cat hits)"
watch_until "has_hits 10" --backtrace --if 'new % 2 == 0' -e beats
grep -q ' tick ' hits && grep -q '#1 ' hits || fail "backtrace: $(head hits)"

# What is allowed for one is not for the next; and what is not is told with its calls.
# guarded STATUS ALLOWED
guarded() {
    rm -f hits
    if [[ $1 -eq 0 ]]; then
        ends 0 timeout -s INT --preserve-status 0.5 quipu watch --log=hits --pid "$running" \
            --guard beats --allow "$2"
        [[ ! -s hits && ! -s messages ]] || fail "allowed: $(head hits messages)"
    else
        local status=0
        env --default-signal=INT quipu watch --log=hits --pid "$running" --guard beats --allow "$2" \
            2>messages &
        awaits is_there hits
        kill -INT $!
        wait $! || status=$?
        [[ $status -eq $1 ]] || fail "not allowed: status $status: $(cat messages)"
        grep -q VIOLATION hits && grep -q '#0 .* tick ' hits && grep -q '#1 ' hits &&
            grep -q ' that must not be' messages || fail "not allowed: $(head hits messages)"
    fi
}
guarded 0 tick
guarded 1 compute
guarded 0 running.c
ends 0 quipu watch --format=json --pid "$running" --limit 3 -e nodes
[[ $(wc -l <messages) -eq 3 ]] || fail "limit: $(cat messages)"

for ((i = 0; i < 50; i++)); do
    ends 0 quipu watch --pid "$running" --limit 1 -e beats -e 'head->value'
    [[ $(wc -l <messages) -eq 1 ]] || fail "$i: $(cat messages)"
done

# one at a time; of one that was killed nothing is left that the next one minds
quipu watch --pid "$running" -e unused &
first=$!
awaits is_watched "$running" $first
refuses "process $running" "process $first watches it" -- quipu watch --pid "$running" -e beats
file=$(grep -o '/[^ ]*quipu-watch-.*' /proc/$first/maps)
kill -KILL $first
{ wait $first; } 2>/dev/null
rm -f "$file"
ends 0 quipu watch --pid "$running" --limit 2 -e beats

# the file need not be there any more, nor its symbols
mv running gone
ends 0 quipu watch --pid "$running" --limit 1 -e beats
grep -q ' tick ' messages || fail "removed: $(cat messages)"
mv gone running
ends 1 quipu watch --pid "$running" -e beatz
grep -q "did you mean 'beats'" messages || fail "$(cat messages)"
refuses "not started" -- quipu watch --pid "$running" -e beats -- ./running
refuses "number of a process" -- quipu watch --pid now -e beats
refuses "process 999999999: there is none" -- quipu watch --pid 999999999 -e beats
finish

# a program that ends while it is watched
begin ./running
rm -f hits
quipu watch --log=hits --pid "$running" -e beats 2>messages 7>&- &
watcher=$!
awaits has_hits 1
exec 7>&-
wait $watcher || fail "ended: status $?: $(cat messages)"
[[ -s hits && ! -s messages ]] || fail "ended: $(cat messages)"
wait
rm said

# one that is stopped stays so
begin ./running
kill -STOP "$running"
watch_until "sleep 0.2" -e beats
awaits is_in $running T
sleep 0.2
grep -q '^State:.*T' "/proc/$running/status" || fail "not stopped: $(cat "/proc/$running/status")"
kill -CONT "$running"
awaits is_in $running RS
finish

# without watch, and of another user
gcc -O2 -g -pthread running.c -o plain || fail "plain"
begin ./plain
refuses "process $running" "--quipu=watch" -- quipu watch --pid "$running" -e beats
finish
if [[ $(id -u) -eq 0 ]]; then
    begin ./running
    refuses "it is of user" -- setpriv --reuid=65534 --clear-groups \
        "$quipu" watch --pid "$running" -e beats
    finish
    chmod 755 .
    begin setpriv --reuid=65534 --clear-groups ./running
    ends 0 quipu watch --pid "$running" --limit 2 -e beats
    [[ $(wc -l <messages) -eq 2 ]] || fail "another user's: $(cat messages)"
    finish
fi
leaves_nothing

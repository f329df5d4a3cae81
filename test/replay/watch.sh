#!/bin/bash
# quipu watch on a recording: the same writes as in the run itself, with their moments; threads; a program
# that quipu did not build.
# timeout: 200
. "$(dirname "$0")/lib.bash"
needs_debug_registers # else only changes are told, and it takes long

# tells STATUS TEXT OPTIONS...: the writes are in the file messages, among them one with TEXT.
tells() {
    local wanted=$1 text=$2
    shift 2
    ends "$wanted" timeout 100 quipu watch "$@" run.rec
    grep -qF -- "$text" messages || fail "'$*': no '$text' in: $(cat messages)"
}

make_program writes --quipu=watch,moment -O1 -g <"$here/parts/writes.c"
records 5 ./writes
for options in "-e total" "-e book.title" "-e book.pages" "--follow -e head->value" "-e total --if new>1" \
    "-e book.title -e total --limit=2" "-e total --summary" "-e total --backtrace"; do
    read -ra words <<<"$options"
    ends 5 quipu watch "${words[@]}" -- ./writes
    sed 's/0x0*[0-9a-f]*  //' messages >direct
    timeout 100 quipu watch "${words[@]}" run.rec >output 2>messages || true
    sed 's/0x0*[0-9a-f]*  //' messages >recorded
    grep -qE 'total|1:' direct || fail "'$options': nothing is watched"
    cmp direct recorded || fail "'$options': $(cat direct) but recorded: $(cat recorded)"
done
tells 5 "pipes[0..1]  {0, 0} -> {" -e pipes
tells 5 '"moment":"push+0x' -e total --format=json
tells 1 "3 writes that must not be" --guard=total --allow=push --never-written=book.title
ends 1 quipu watch -e heap:writes.c:22 run.rec
said "variables with one address"
ends 1 quipu watch -e totel run.rec
grep -qF "did you mean 'total'" messages || fail "no suggestion: $(cat messages)"
ends 1 quipu watch --stop -e total run.rec
said "not for recordings"
cmp <(timeout 100 quipu watch -e total run.rec 2>&1 >/dev/null) <(timeout 100 quipu watch -e total run.rec 2>&1 >/dev/null) ||
    fail "two replays have other writes"

# Threads; a moment that is told leads to the write.
make_program moments --quipu=moment -O1 -g -pthread <"$here/parts/moments.c"
records 0 ./moments
tells 0 "own[2]  99 -> 100" -e 'own[2]' --limit=100
moment=$(sed -n 's/.*-> 100 .*  //p' messages)
[[ $moment == change+*/1:2~* ]] || fail "'$moment' is no moment of the second thread"
cat >commands <<'END'
print own[2]
stepi
print own[2]
END
printf '#!/bin/bash\nexec gdb -nx -batch "$@" -iex "set pagination off" -x commands\n' >gdb-batch
chmod +x gdb-batch
timeout 100 quipu replay --gdb=./gdb-batch "--at=$moment" run.rec </dev/null >output 2>&1
grep -qF '$1 = 99' output && grep -qF '$2 = 100' output || fail "not in front of the write: $(cat output)"

# Any compiler's.
make_plain plain writes.c -O1 -g
records 5 ./plain
tells 5 "total  3 -> 6  (long int)  push  writes.c:" -e total
tells 5 '"knots" -> "chords"  (char[6])  main  writes.c:' -e book.title

# The program that a shell executes, in the same process or another one; a recording that was cut.
records 5 sh -c 'exec ./writes'
tells 5 "total  3 -> 6" -e total
records 0 sh -c './writes; ./plain; exit 0'
tells 5 "total  3 -> 6" -e total --process=1/2
grep -qF '@' messages && fail "'--process=1/2' is not looked at: $(cat messages)"
ends 1 quipu watch -e total --process=1/3 run.rec
said "no process '1/3'"
ends 1 quipu watch -e total --process=1 -- ./writes
said "--process is for recordings"
tells 5 "total  3 -> 6  (long int)  push  writes.c:26  add %rbx, total(%rip)  push+0x" -e total
grep -qF "/1/1~" messages || fail "its thread has no name: $(cat messages)"
ends 0 timeout 100 quipu when 'total > 3' run.rec
head -c $(($(stat -c %s run.rec) / 3)) run.rec >cut.rec
ends 1 timeout 100 quipu when 'total > 3' cut.rec
grep -qE 'the recording was cut here|no debug information' messages || fail "not said that it was cut: $(cat messages)"

#!/bin/bash
# All registers and the stack at many stops, forwards and backwards, are the same: see parts/reverse.py.
# timeout: 300
. "$(dirname "$0")/lib.bash"
needs python3
make_plain wild debugged.c -O2
make_program ticks --quipu=moment -O1 <"$here/parts/debugged.c"

# goes SEED STOPS STEPS: the recording run.rec, both ways.
goes() {
    timeout 200 python3 "$here/parts/reverse.py" run.rec "$@" >went 2>&1 || fail "$(tail -3 went)"
}
records 3 ./wild
for seed in 1 2 3; do
    goes $seed 30 12
done
spare=$(nm wild | sed -n 's/ . spare$//p')
goes 1 30 12 "$(printf '%x' $((0x555555554000 + 0x$spare)))"
records 3 ./ticks
goes 4 30 12

# Signals, on an alternate stack, and faults.
ulimit -c 0
make_plain signals signals.c -O2
records 139 ./signals 2>/dev/null
goes 4 25 6

# Programs that nobody here wrote, stripped.
records 0 ls /
goes 5 40 12
cat >script <<'END'
double() { local a=$1; echo $((a * 2)); }
for i in 1 2 3 4 5 6; do double $i; done
trap 'echo signal' USR1
kill -USR1 $$
echo ${BASH_VERSINFO[0]//[0-9]/x}
END
records 0 bash script
goes 6 40 12
goes 7 40 12
printf 'b\na\nc\n' >lines
records 0 sort lines
goes 8 40 12

# Threads, also where turns end between any two instructions, and signals at ticks.
make_plain threads threads.c -O2 -pthread
records 6 ./threads
goes 9 30 12
make_program ticks --quipu=moment -O1 -pthread <"$here/parts/ticks.c"
make_program flaky --quipu=moment -O1 -pthread <"$here/parts/flaky.c"
for arguments in 60 forks threads; do
    records 0 ./ticks $arguments
    goes 10 20 0
done
timeout 200 quipu record --until-fails=5000 --shuffle -o run.rec -- ./flaky 2>/dev/null
for seed in 11 12 13; do
    goes $seed 30 12
done

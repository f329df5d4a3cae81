#!/bin/bash
# Threads that wait for each other pass the turn inside of their process: see parts/waits.c.
# timeout: 300
. "$(dirname "$0")/lib.bash"
make_plain waits waits.c -O2 -pthread
for way in plain signals breaks stops forks crowd large executes ends; do
    repeats 3 ./waits $way
done
repeats 3 ./waits signals

# The recording ends while threads wait; they go on without the recorder.
for _ in 1 2 3; do
    records 3 ./waits leaves
    [[ $(<recorded.err) == *'no one may trace'* && $(tail -1 recorded.out) == after ]] ||
        fail "leaves: the program has not gone on: $(cat recorded.out recorded.err)"
    replays 1
    [[ $(<replayed.out) == before ]] || fail "leaves: the replay is not what was recorded"
done

# The recorder is not asked at each wait.
needs strace
timeout 100 strace -o calls -e trace=ptrace quipu record -o run.rec -- ./waits plain >recorded.out 2>&1 ||
    [[ $? -eq 3 ]] || fail "the recorder does not work below strace"
number=$(quipu info --format=json run.rec | sed -n 's/.*"calls": *\([0-9]*\).*/\1/p' | head -1)
stops=$(grep -c 'ptrace(PTRACE_\(SYSCALL\|CONT\),' calls)
[[ $number -gt 6000 && $stops -lt $((number / 2)) ]] || fail "$stops stops at $number calls"
replays 3
cmp recorded.out replayed.out || fail "the replay of a run below strace differs"

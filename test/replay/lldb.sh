#!/bin/bash
# lldb on a replay: breakpoints, watchpoints, steps, backtraces, functions that are called, memory, a signal,
# another program, the end.
# timeout: 200
. "$(dirname "$0")/lib.bash"
needs lldb
lldb=$(the_one lldb)

# debugs PROGRAM ANSWERS...: lldb on the replay of the recorded PROGRAM executes the lines of standard
# input, and says each of ANSWERS, in this order.
debugs() {
    local wanted rest port='' program=$1
    shift
    timeout 100 quipu replay --port=0 run.rec </dev/null 2>port >/dev/null &
    for ((i = 0; i < 100; i++)); do
        port=$(sed -n 's/.*extended-remote :\([0-9]*\)$/\1/p' port)
        [[ -z $port ]] || break
        sleep 0.1
    done
    { echo "gdb-remote $port"; cat; } >commands
    timeout 100 "$lldb" -b -s commands "$program" </dev/null >output 2>&1 ||
        fail "lldb has ended with $?: $(tail -5 output)"
    wait
    rest=$(<output)
    for wanted; do
        [[ $rest == *"$wanted"* ]] || fail "no '$wanted' behind the one before in: $(cat output)"
        rest=${rest#*"$wanted"}
    done
}

make_plain wild debugged.c -O0 -g
records 3 ./wild
debugs ./wild "stop reason = breakpoint 1.1" "wild(i=" "main at debugged.c" "= 7" "step out" "step over" "step in" \
    "work(n=1)" "= 5000" "= 7" "= -1464630796" "new value: 666" "wild(i=6)" \
    "= -965127796" "rw-" "libc.so.6" "fs_base = 0x0000" "signal SIGUSR1" "raise" <<'END'
breakpoint set -n wild
continue
bt
expression victim
breakpoint delete -f
thread step-out
thread step-over
breakpoint set -n work
continue
thread step-in
frame select 0
breakpoint delete -f
expression counter = 5000
expression counter
expression victim
expression work(3)
watchpoint set variable victim
continue
frame select 0
expression work(6)
memory region `&victim`
image list
register read fs_base
watchpoint delete -f
continue
bt
END

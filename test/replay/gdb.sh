#!/bin/bash
# gdb on a replay, forwards and backwards: who wrote a variable last, the lines in front of it, signals,
# the end, what the program has written, 'run' again.
# timeout: 300
. "$(dirname "$0")/lib.bash"
needs gdb
make_plain wild debugged.c -O0 -g

# debugs ANSWERS...: gdb executes the lines of standard input, and says each of ANSWERS, in this order.
debugs() {
    local wanted rest
    cat >commands
    printf '#!/bin/bash\nexec gdb -nx -batch "$@" -iex "set pagination off" -x commands\n' >gdb-batch
    chmod +x gdb-batch
    timeout 100 quipu replay --gdb=./gdb-batch "${options[@]}" run.rec </dev/null >output 2>&1 ||
        fail "gdb has ended with $?: $(tail -5 output)"
    rest=$(<output)
    for wanted; do
        [[ $rest == *"$wanted"* ]] || fail "no '$wanted' behind the one before in: $(cat output)"
        rest=${rest#*"$wanted"}
    done
}

records 3 ./wild
options=()
debugs "Breakpoint 1, main" "exe = '" "wild'" "[stack]" '$1 = 7' "Breakpoint 2, work" "Breakpoint 2, work" '$2 = 1' "received signal SIGUSR1" \
    "has ended here with status 3" \
    "No more reverse-execution history" "received signal SIGUSR1" "Old value = 666" "New value = 7" "in wild (i=6)" "Breakpoint 1, main" <<'END'
break main
continue
info proc
info proc mappings
print victim
break work
continue
continue
print n
delete 2
continue
continue
reverse-continue
watch victim
reverse-continue
reverse-continue
END

# Lines and calls, backwards and forwards.
options=()
debugs "work (n=3)" "wild (i=3)" "in main ()" "work (n=2)" "wild (i=2)" 'victim = 7' "Breakpoint 5, main" <<'END'
break work if n == 3
continue
reverse-next
frame
tbreak wild
reverse-continue
frame
reverse-finish
tbreak work
reverse-continue
tbreak wild
reverse-continue
printf "victim = %d\n", victim
delete
break main
run
END

# Changes are made in a copy, which is thrown away; functions are called there.
options=()
debugs '$1 = -1464630796' '$2 = 99' "what was changed is dropped" '$3 = 7' '$4 = 5000' '"copied"' '$6 = 5000' '$7 = 17' \
    "has ended here with status 3" '$8 = ' <<'END'
break wild if i == 5
continue
print work(3)
set var victim = 99
print victim
next
print victim
print counter
print (char *)strdup("copied")
print counter
print local
continue
continue
print work(1)
END

# From the last signal.
options=(--at=signal)
debugs "si_signo = 10" "handle (number=10)" "pthread_kill" "event" <<'END'
print $_siginfo
break handle
continue
reverse-finish
monitor when
END

# From the end; output up to a place; a place by its number.
options=(--at=end)
debugs "event" "the end" "victim 666" "event 20" "monitor output" <<'END'
monitor when
monitor output
monitor goto 20
monitor when
monitor help
END

# Back to a place that was kept, also within a slice.
options=()
debugs "checkpoint 1: event" "checkpoint 2: event" '$1 = 4003' "received signal SIGUSR1" '$2 = 4003' '$3 = 4000' \
    "wild (i=4)" "checkpoint 2: event" "name a checkpoint" <<'END'
break work if n == 4
continue
monitor checkpoint
tbreak 19 if counter == 4003
continue
monitor checkpoint
print counter
continue
monitor restart 2
maintenance flush register-cache
print counter
monitor restart 1
maintenance flush register-cache
print counter
tbreak wild
reverse-continue
monitor checkpoints
monitor restart 3
END

# Hardly any memory for checkpoints: it goes back all the same, and has no more than it needs.
options=(--memory=1 --at=end)
debugs "received signal SIGUSR1" "received signal SIGUSR1" "work (n=9)" "work (n=8)" "lists them" "work (n=7)" <<'END'
reverse-continue
continue
break work
reverse-continue
reverse-continue
reverse-continue
monitor checkpoints
echo lists them\n
reverse-continue
END
[[ $(sed -n '/work (n=8)/,/lists them/p' output | grep -c '^event') -lt 8 ]] ||
    fail "there are too many checkpoints: $(<output)"

# Without debug registers: each instruction is looked at, here from a checkpoint that is near.
options=()
export QUIPU_DEBUG_REGISTERS=0
debugs "Old value = 7" "New value = 666" "Old value = 666" "New value = 7" "in wild (i=6)" <<'END'
break wild if i == 6
continue
reverse-stepi
stepi
watch victim
continue
reverse-continue
END

# What is wrong is told.
unset QUIPU_DEBUG_REGISTERS
ends 1 quipu replay --port=x run.rec
said "--port='x'"
ends 1 quipu replay --memory=0 run.rec
said "--memory='0'"
ends 1 quipu replay --at=nowhere run.rec
said "--at='nowhere'"
ends 1 quipu replay --check --at=end run.rec
said "without a debugger"
ends 127 quipu replay --gdb=./no-such-gdb run.rec
said "./no-such-gdb"
ends 1 quipu replay --at=1000000 --gdb=true run.rec
said "has only"
ends 1 quipu replay commands
said "is not a recording"

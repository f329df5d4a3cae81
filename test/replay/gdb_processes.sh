#!/bin/bash
# gdb on one process of several, and over programs that it executes, forwards and backwards.
# timeout: 300
. "$(dirname "$0")/lib.bash"
needs gdb
make_plain family family.c -O0 -g
make_plain other family.c -O0 -g -DOTHER

# debugs NAME ANSWERS...: gdb on the process of that NAME executes the lines of standard input, and says
# each of ANSWERS, in this order.
debugs() {
    local wanted rest name=$1
    shift
    cat >commands
    printf '#!/bin/bash\nexec gdb -nx -batch "$@" -iex "set pagination off" -x commands\n' >gdb-batch
    chmod +x gdb-batch
    timeout 100 quipu replay --process="$name" "${options[@]}" --gdb=./gdb-batch run.rec </dev/null >output 2>&1 ||
        fail "gdb has ended with $?: $(tail -5 output)"
    rest=$(<output)
    for wanted; do
        [[ $rest == *"$wanted"* ]] || fail "no '$wanted' behind the one before in: $(cat output)"
        rest=${rest#*"$wanted"}
    done
}

records 3 ./family
options=()
replays 3

# The first one: over what 'system' does, and into the program that it executes.
debugs 1 "change (by=20)" '$1 = 10' "system" "change(30);" "system" "change (by=30)" \
    "executing new program: $PWD/other" "other (by=1)" "other (by=2)" "Old value = 1" "New value = 0" \
    "executing new program: $PWD/family" "Old value = 60" "New value = 30" "change (by=20)" \
    "executing new program: $PWD/other" "New value = 1" "has ended here with status 3" <<'END'
set breakpoint pending on
break change
break other
tbreak change if by == 20
continue
continue
print value
finish
next
reverse-next
continue
continue
continue
delete
watch value
reverse-continue
reverse-continue
reverse-continue
frame
continue
continue
continue
continue
continue
continue
END

# Its child, from where it was made on; a function that is called in a copy; from the begin again.
debugs 1/1 "change (by=5)" '$1 = 10' '$2 = 24' "executing new program: $PWD/other" "other (by=1)" \
    "executing new program: $PWD/family" "No more reverse-execution history" '$3 = 10' \
    "change (by=5)" <<'END'
break change
continue
print value
print (value = 12) * 2
catch exec
continue
delete
break other
continue
delete
reverse-continue
reverse-continue
print value
tbreak change
run
END

# A child of that one, and one that has the memory of its maker up to its program.
debugs 1/1/1 "change (by=1000)" '$1 = 15' "event 3, the end" "event 2, and some instructions" <<'END'
break change
continue
print value
continue
monitor when
reverse-stepi
monitor when
END
debugs 1/2 "executing new program: /" "shell" "executing new program: $PWD/family" "spawn" \
    "No more reverse-execution history" <<'END'
break _exit
continue
delete
catch exec
reverse-continue
backtrace
reverse-continue
END

# From the begin of its last program, and back over it.
options=(--at=program)
debugs 1/1 "$PWD/other" "executing new program: $PWD/family" "(gdb) end" <<'END'
info inferiors
catch exec
reverse-stepi
echo (gdb) end
END

ends 1 quipu replay --process=1/7 run.rec
said "no process '1/7'"
ends 1 quipu replay --process=1 --check run.rec
said "without a debugger"

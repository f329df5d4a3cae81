#!/bin/bash
# gdb's rwatch and awatch, forwards and backwards: with debug registers, and where each instruction is stepped.
# timeout: 300
. "$(dirname "$0")/lib.bash"
needs gdb
make_plain reads reads.c -O1 -g -fno-inline
records 0 ./reads

# hits COMMAND COUNT: the functions in which gdb stops, so many times forwards, and then backwards.
hits() {
    {
        printf 'break main\ncontinue\n%s seen\n' "$1"
        for ((i = 0; i < $2; i++)); do echo continue; done
        for ((i = 1; i < $2; i++)); do echo reverse-continue; done
    } >commands
    printf '#!/bin/bash\nexec gdb -nx -batch "$@" -iex "set pagination off" -x commands\n' >gdb-batch
    chmod +x gdb-batch
    timeout 100 quipu replay --gdb=./gdb-batch run.rec </dev/null >output 2>&1 ||
        fail "gdb has ended with $?: $(tail -5 output)"
    sed -n 's/^.*\(reader\|writer\) ([a-z]*=\([a-z@]*=\)\?\([0-9]\)).*/\1 \3/p' output
}

# Backwards from the last one: the one before is the first to come.
for registers in 1 0; do
    export QUIPU_DEBUG_REGISTERS=$registers
    printf 'reader %d\n' 0 1 2 2 1 >wanted
    hits rwatch 3 >found
    cmp wanted found || fail "rwatch: $(<found) in: $(<output)"
    printf '%s\n' 'reader 0' 'writer 1' 'reader 1' 'writer 2' 'reader 2' 'reader 2' 'writer 2' \
        'reader 1' 'writer 1' >wanted
    hits awatch 5 >found
    cmp wanted found || fail "awatch: $(<found) in: $(<output)"
done

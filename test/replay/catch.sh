#!/bin/bash
# gdb stops in front of system calls and behind them: backwards at the same ones, in the reverse order.  Where
# another program is executed, backwards, gdb is told of the program only.
# timeout: 300
. "$(dirname "$0")/lib.bash"
needs gdb
make_plain family family.c -O0 -g
make_plain other family.c -O0 -g -DOTHER
records 3 ./family

# stops PLACE COMMAND COUNT CATCH: what gdb stops at, one a line, in COUNT commands.
stops() {
    {
        echo "catch syscall $4"
        for ((i = 0; i < $3; i++)); do echo "$2"; done
    } >commands
    printf '#!/bin/bash\nexec gdb -nx -batch "$@" -iex "set pagination off" -x commands\n' >gdb-batch
    chmod +x gdb-batch
    timeout 100 quipu replay --process=1/1 --at="$1" --gdb=./gdb-batch run.rec </dev/null >output 2>&1 ||
        fail "gdb has ended with $?: $(tail -5 output)"
    sed -n 's/^Catchpoint 1 (\(call\|returned\)\([^)]*\)).*/\1\2/p' output
}

stops begin continue 100 '' | grep -v 'call to syscall execve' >forwards
stops end reverse-continue 100 '' | tac >backwards
[[ $(wc -l <forwards) -gt 50 ]] || fail "it stops at $(wc -l <forwards) places: $(<output)"
cmp forwards backwards || fail "backwards: $(diff forwards backwards)"
stops begin continue 20 'write exit_group' >some
printf '%s\n' 'call to syscall write' 'returned from syscall write' 'call to syscall write' \
    'returned from syscall write' 'call to syscall exit_group' | diff - some || fail "of some calls"

# Where each instruction is stepped, too.
export QUIPU_DEBUG_REGISTERS=0
stops begin continue 3 $'write\nwatch value' >some
printf '%s\n' 'call to syscall write' 'returned from syscall write' | diff - some || fail "stepped: $(<output)"

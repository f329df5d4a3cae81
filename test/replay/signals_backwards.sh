#!/bin/bash
# gdb stops at signals, backwards at the same ones as forwards, in the reverse order; and not at those that it
# is told to pass.
# timeout: 100
. "$(dirname "$0")/lib.bash"
needs gdb
make_plain told told_signals.c -O0 -g
printf '#!/bin/bash\nexec gdb -nx -batch "$@" -iex "set pagination off" -x commands\n' >gdb-batch
chmod +x gdb-batch
records 0 ./told

# stops COMMANDS: where gdb stops on its way to the end, to the file 'forwards', and back, to 'backwards'.
stops() {
    {
        cat
        for ((i = 0; i < 12; i++)); do echo continue; done
        printf 'echo the way back\\n\n'
        for ((i = 0; i < 12; i++)); do echo reverse-continue; done
    } >commands
    timeout 90 quipu replay --gdb=./gdb-batch run.rec </dev/null >output 2>&1 ||
        fail "gdb has ended with $?: $(tail -5 output)"
    sed -n 's/.*received signal \(SIG[A-Z0-9]*\),.*/\1/p; s/.*Breakpoint \([0-9]*\), .*\(turn=.\).*/\1 \2/p
        s/^the way back/back/p' output | grep -v SIGTRAP >both
    sed '/^back$/,$d' both >forwards
    sed '1,/^back$/d' both | tac >backwards
    cmp forwards backwards || fail "backwards it stops at others: $(diff forwards backwards)"
}

stops </dev/null
printf 'SIGUSR%d\n' 1 2 1 2 1 2 1 | diff - forwards || fail "other signals: $(<output)"
stops <<<'handle SIGUSR2 nostop noprint
break between'
printf '%s\n' SIGUSR1 '1 turn=0' SIGUSR1 '1 turn=1' SIGUSR1 '1 turn=2' SIGUSR1 | diff - forwards ||
    fail "with a breakpoint: $(<output)"
stops <<<'handle SIGALRM stop print
handle SIGUSR1 nostop noprint
handle SIGUSR2 nostop print
break between'
[[ $(grep -c SIGALRM forwards) -eq 2 ]] || fail "alarms: $(<output)"

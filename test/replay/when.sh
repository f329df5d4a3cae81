#!/bin/bash
# quipu when on a recording: the same moment as in the run itself, where that repeats itself; threads; a
# program that quipu did not build; without debug registers.
# timeout: 200
. "$(dirname "$0")/lib.bash"
needs_debug_registers # else all but the last search takes long
examples=$here/../../examples

# finds EXPRESSION LINES...: 'quipu when' finds it in the recording, and says each of the lines.
finds() {
    local expression=$1 wanted
    shift
    ends 0 timeout 100 quipu when "$expression" run.rec
    for wanted; do
        grep -qxE -- "$wanted" output || fail "'$expression': no line '$wanted' in: $(cat output)"
    done
}

quipu cc --quipu=moment -O1 -g "$examples/ledger/ledger.c" -o ledger
records 1 ./ledger
ends 0 timeout 100 quipu when 'balance[306] < 0' -- ./ledger
grep -v searched output >direct
finds 'balance[306] < 0'
grep -v searched output >recorded
cmp direct recorded || fail "the recording has another moment: $(cat recorded)"
finds 'balance[306] == 0' "'balance\[306\] == 0' is true from the start" '  moment +main\+0x0@1/1~.*'
ends 0 timeout 100 quipu when --from=change --format=json 'balance[306] == 100000 && 1' run.rec
grep -qF '"from_start": true' output || fail "--from has no effect"
ends 1 timeout 100 quipu when 'balance[306] == -12345' run.rec
grep -qF 'the program has ended (exit status 1)' messages || fail "not said that it never was true"
ends 1 quipu when 'balanse[306] < 0' run.rec
grep -qF "did you mean 'balance'" messages || fail "no suggestion"
ends 1 quipu when 'balance[306] < 0' run.rec x
said "has its arguments in it"

# Threads: what the program says of them.
make_program moments --quipu=moment -O1 -g -pthread <"$here/parts/moments.c"
records 0 ./moments
for number in 1 2 3; do
    finds "own[$number] == 5000" "  moment +change\+0x[0-9a-f]+@10000/1:$number~[0-9a-f]+  moments.c:1[0-9]" \
        "  own\[$number\] +4999, then 5000"
done

# Any compiler's; each instruction is looked at.
make_plain wild debugged.c -O0 -g
records 3 ./wild
finds 'victim == 666' '  moment +behind event [0-9]+  debugged.c:[0-9]+' '  instruction  movl? \$0x29a.*' \
    '  victim +7, then 666'
export QUIPU_DEBUG_REGISTERS=0
ends 0 timeout 100 quipu when --from=work 'counter == 1000' run.rec
grep -qx '  counter  *999, then 1000' output || fail "not found by steps: $(cat output)"

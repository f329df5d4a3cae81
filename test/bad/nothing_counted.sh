#!/bin/bash
# Data of a program that was not built to be counted, or counts of one with no lines where lines are
# asked for: an error that tells how to build it, and no table or file that has nothing in it.
. "$(dirname "$0")/lib.bash"
main='int main(void) { return 0; }'

for mode in event moment calls; do
    make_program $mode -g --quipu=$mode <<<"$main"
    ends 0 quipu run -o $mode.data -- ./$mode
    for view in function file line block instruction; do
        refuses "$mode.data" "--quipu=count" -- quipu report --by=$view $mode.data
    done
    refuses "$mode.data" "--quipu=count" -- quipu annotate --data=$mode.data
    refuses "$mode.data" "--quipu=count" -- quipu annotate --asm --data=$mode.data
    refuses "$mode.data" "--quipu=count" -- quipu export --to=lcov -o out $mode.data
    [[ ! -e out ]] || fail "an export that failed left a file"
    ends 0 quipu report --by=process $mode.data
done
refuses "event.data" "--quipu=count" -- quipu export --to=callgrind -o out event.data
ends 0 quipu export --to=callgrind -o out calls.data

make_program plain <<<"$main"
ends 0 quipu run -o plain.data -- ./plain
for format in lcov cobertura gcov-json; do
    refuses "compile with -g" -- quipu export --to=$format -o lines plain.data
    refuses "compile with -g" -- quipu export --to=$format --source-root=. -o lines plain.data
done
[[ ! -e lines ]] || fail "an export that failed left a file"
ends 0 quipu export --to=callgrind -o out plain.data
ends 0 quipu export --to=json -o out plain.data

#!/bin/bash
# Commands and options that do not exist, and files that cannot be written: one error, status 1.
. "$(dirname "$0")/lib.bash"
make_program program -O2 -g <<<'int main(void) { return 0; }'
./program || fail "the program failed"
refuses "'frobnicate'" -- quipu frobnicate
refuses "nonsense" -- quipu cc --quipu=nonsense -c program.c
refuses "--quipu-nonsense" -- quipu cc --quipu-nonsense -c program.c
refuses "--quipu-event=nonsense" "no such kind" -- quipu cc --quipu-event=nonsense -c program.c
refuses "loads=mul" "choose another" -- quipu cc --quipu-event=loads=mul -c program.c
for name in '' Big 1st a_b 'a b'; do
    refuses "--quipu-event=$name=mul" "small letter" -- quipu cc "--quipu-event=$name=mul" -c program.c
done
for pattern in '' 'a|' '|a' 'a||b' call: 'a|call:'; do
    refuses "--quipu-event=x=$pattern" "empty" -- quipu cc "--quipu-event=x=$pattern" -c program.c
done
refuses "x=b" "another pattern" -- quipu cc --quipu-event=x=a --quipu-event=x=b -c program.c
many=()
for i in {1..17}; do many+=("--quipu-event=class-$i=mul"); done
refuses "class-17" "16 classes" -- quipu cc "${many[@]}" -c program.c
refuses "too long" -- quipu cc "--quipu-event=x=$(printf '%01500d' 0)" -c program.c
ends 0 quipu cc --quipu=event "${many[@]:0:16}" -c program.c
refuses "nonsense" -- quipu report --by=nonsense
refuses "nonsense" -- quipu report --format=nonsense
refuses "nonsense" -- quipu report --sort=nonsense
refuses "nonsense" -- quipu report --nonsense
refuses "nonsense" -- quipu export --to=nonsense
refuses "/nowhere/out" -- quipu export --to=json -o /nowhere/out
refuses "/nowhere/out" -- quipu merge -o /nowhere/out quipu.data
refuses "/nowhere/out" -- quipu report --output=/nowhere/out
ends 127 quipu run ./no_such_program
said "no_such_program"
ends 126 quipu run ./program.c
said "program.c"
ends 127 quipu cc --quipu-compiler=no-such-compiler program.c
said "no-such-compiler"
ends 1 quipu report --by=function --output=/dev/full
said "No space left on device"
for command in cc run stat report annotate diff merge info export; do
    ends 0 quipu $command --help
    grep -q usage output || fail "'quipu $command --help' shows no usage"
done

#!/bin/bash
# Commands and options that do not exist, and files that cannot be written: one error, status 1.
. "$(dirname "$0")/lib.bash"
make_program program -O2 -g <<<'int main(void) { return 0; }'
./program || fail "the program failed"
refuses "'frobnicate'" -- quipu frobnicate
refuses "nonsense" -- quipu cc --quipu=nonsense -c program.c
refuses "--quipu-nonsense" -- quipu cc --quipu-nonsense -c program.c
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
for command in cc run report annotate diff merge info export; do
    ends 0 quipu $command --help
    grep -q usage output || fail "'quipu $command --help' shows no usage"
done

#!/bin/bash
# What is below the stack pointer when a program begins is in a replay what it was, too: the kernel puts the
# program's path onto the stack, which is another one in a replay.
. "$(dirname "$0")/lib.bash"
make_plain below_stack below_stack.S -nostdlib -static
repeats 0 ./below_stack
[[ $(stat -c %s recorded.out) -eq 512 ]] || fail "it has not written what is there"

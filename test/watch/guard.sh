#!/bin/bash
# The example of a guarded pool: who writes to its bookkeeping from elsewhere is found at the first
# byte, and with --fatal the program goes no further.
. "$(dirname "$0")/lib.bash"
quipu cc --quipu=watch -O1 -g "$top"/examples/pool/*.c -o program || fail "cannot build"
ends 1 ./program
grep -qE '^64 blocks in use, [1-9][0-9]* names lost$' output || fail "it says: $(cat output)"
watches 1 --guard=pool.books --allow=pool.c -- ./program
grep -qE '^ *1:  pool\.books\.next\[0\]  64 -> 32 .* main\.c:[0-9]+  .*VIOLATION$' hits || fail "$(cat hits)"
grep -q 'names lost' output || fail "it does not go on: $(cat output)"
watches 1 --guard=pool.books --allow=pool.c --fatal -- ./program
[[ $(wc -l <hits) -eq 1 && ! -s output ]] || fail "it goes on: $(cat hits output)"
watches 1 --guard=pool.books --allow=pool.c --allow=keep_name --allow=main -- ./program
[[ ! -s hits ]] || fail "allowed: $(cat hits)"
leaves_nothing

#!/bin/bash
# Conditions of breakpoints are evaluated by the server, as far as gdb compiles them: then they hold where gdb itself
# finds them true, forwards and backwards.  A condition that fails stops, as gdb is to say so.
# timeout: 120
. "$(dirname "$0")/lib.bash"
needs gdb
make_plain conditions conditions.c -O1 -g
printf '#!/bin/bash\nexec gdb -nx -batch "$@" -iex "set pagination off" -x %q\n' "$here/parts/conditions.py" >gdb-batch
chmod +x gdb-batch
records 0 ./conditions
timeout 300 quipu replay --gdb=./gdb-batch run.rec </dev/null >output 2>&1 || fail "gdb has ended with $?: $(tail -5 output)"
! grep "is wrong" output || fail "$(grep "is wrong" output)"
[[ $(grep -c "is right, [1-9]" output) -ge 33 ]] || fail "some conditions are missing: $(grep "is right" output)"
# gdb compiles all but the last four.
grep "is right\|not compiled" output | grep -B 1 "not compiled" | grep "is right" >host
[[ $(wc -l <host) -eq 4 ]] || fail "other conditions than four are evaluated by gdb: $(<host)"

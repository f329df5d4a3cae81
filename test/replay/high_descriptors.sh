#!/bin/bash
# Output to copies of standard output and standard error with high numbers, as valgrind makes them.
# timeout: 20
. "$(dirname "$0")/lib.bash"
ulimit -n 4000 || {
    echo 'skipped: there are no descriptors above 3000'
    exit 77
}
cat >high <<'END'
exec 3000>&1 3001>&2
echo one >&3000
echo two >&3001
exec 3002>&3000 3000>&-
bash -c 'echo three >&3002'
exec 3002>/dev/null
echo nothing >&3002
echo four >&3001
END
repeats 0 bash high
[[ $(<replayed.out) == $'one\nthree' && $(<replayed.err) == $'two\nfour' ]] ||
    fail "the replay has written '$(<replayed.out)' and '$(<replayed.err)'"

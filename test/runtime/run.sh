#!/bin/sh
# run.sh: 'quipu run' sets the directory, and the program's status is its own.
. "$(dirname "$0")/common.sh.inc"
quipu=$lib/../../bin/quipu
link exe program "$here/program.c"

silent "$quipu" run -o a/b/c -- ./program once
expect program "cells 2 1 1000 0 0" a/b/c "-o"
silent "$quipu" run --output=a/d ./program fork
expect program "cells 2 1 1100 0 1" a/d "--output"
silent "$quipu" run ./program once -o x
test -d quipu.data && test ! -e x || fail "arguments of the program were taken"
(cd a && QUIPU_DATA=../fromenv silent "$quipu" run ../program once) || exit 1
test "$(ls fromenv | wc -l)" = 1 || fail "QUIPU_DATA was not kept"
"$quipu" run ./program nothing
test $? = 2 || fail "wrong status of the program"
sh -c '"$1" run ./program kill; exit $?' sh "$quipu" 2>/dev/null
test $? = 137 || fail "the program's signal is lost"

# refused STATUS TEXT ARGS...
refused() {
    wanted=$1 text=$2
    shift 2
    "$quipu" run "$@" 2>errors >output
    status=$?
    test $status = "$wanted" || fail "'$*' ended with $status, not $wanted"
    test "$(wc -l <errors)" = 1 && grep -q "^quipu: error: .*$text" errors ||
        fail "expected '$text' but found: $(cat errors)"
}
refused 127 "'./missing': no such program" ./missing
refused 126 "cannot run './shown': Permission denied" ./shown
refused 1 "no program to run" -o x
refused 1 "'-o': no such option, or its value is missing" -o
refused 1 "'--what': no such option" --what ./program
refused 1 "'shown' is not a directory" -o shown ./program
refused 1 "cannot make 'shown/x': Not a directory" -o shown/x ./program
"$quipu" run --help | grep -q "^usage: quipu run" || fail "no help"
exit 0

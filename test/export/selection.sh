#!/bin/bash
# selection.sh: with --process or --thread the report's heading is about what is selected, as its
# rows are.
. "$(dirname "$0")/lib.bash"

build_program counted -O1
run_program counted data 5
run_program counted data 50
first=$("$quipu" report --by=process --format=csv --sort=instructions data | tr -d '\r' | sed -n 2p)
process=${first%%,*}
instructions=$(cut -d, -f8 <<<"$first")
for selection in "--process=$process" "--thread=$process" "--process=$process --thread=$process"; do
    for view in function thread process; do
        # shellcheck disable=SC2086
        "$quipu" report $selection --by=$view data >table.txt || fail "'$selection': no report"
        heading=$(head -n 1 table.txt)
        [ "${heading#*: }" = "1 process, 1 thread, $instructions instructions executed" ] ||
            fail "'$selection --by=$view' says: $heading"
        [[ $heading == *"counted 50:"* ]] || fail "'$selection' names another command: $heading"
    done
done
grep -q ': 2 processes, 2 threads, ' < <("$quipu" report data | head -n 1) || fail "not all without them"
for option in process thread; do
    expect_error 1 'none of the data is of it' "$quipu" report --$option=1 data
done

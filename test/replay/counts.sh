#!/bin/bash
# quipu report, stat, annotate, export and diff of a recording: what they tell of the data files that the recorded run has
# left, with threads, forked processes and calls, also where these are gone; a recording without counts.
# timeout: 60
. "$(dirname "$0")/lib.bash"

# counted FLAGS WORDS...: records the program, built with the flags; its data files are in the directory data.
counted() {
    local flags=$1
    shift
    make_program counted $flags -O2 -g -pthread <"$here/parts/traced.c"
    rm -rf data data.kept
    QUIPU_DATA=$PWD/data/ ends 0 quipu record -o run.rec -- ./counted "$@"
}

# same COMMAND...: with the word DATA in it, it tells the same of the recording as of the files.
same() {
    ends 0 "${@/DATA/data}"
    mv output wanted
    ends 0 "${@/DATA/run.rec}"
    cmp wanted output || fail "'$*': other than of the files: $(diff wanted output | head -5)"
    [[ -s output && ! -s messages ]] || fail "'$*': nothing, or words: $(cat messages)"
}

counted --quipu=count plain
[[ $(ls data | wc -l) -eq 2 ]] || fail "not two data files"
same quipu report DATA
same quipu annotate --data=DATA
same quipu export --to=lcov DATA
ends 0 quipu diff run.rec data
grep -q ' +0 ' output || fail "diff: $(cat output)"
mv data data.kept
ends 0 quipu report run.rec
counted --quipu=count threads
same quipu report DATA
counted --quipu=event threads
same quipu stat --data DATA
mv output wanted
ends 0 quipu stat run.rec
cmp wanted output || fail "stat of a recording is not that of its data"
counted --quipu=calls plain
same quipu report --by=callsite DATA

make_plain plain traced.c -pthread
ends 0 quipu record -o run.rec -- ./plain
refuses "has made no data file" -- quipu report run.rec
head -c 100000 run.rec >cut.rec
ends 1 quipu report cut.rec
[[ -z $(ls -d "${TMPDIR:-/tmp}"/quipu-recorded* 2>/dev/null) ]] || fail "temporary data is left"

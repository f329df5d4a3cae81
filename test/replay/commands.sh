#!/bin/bash
# quipu when, watch and goto on a recording of several processes, on the end of a run, and on a packed one whose
# program is gone: the writes and moments are those of the run, with backtraces.
# timeout: 200
. "$(dirname "$0")/lib.bash"
make_program commands --quipu=moment,watch -O1 -g -pthread <"$here/parts/commands.c"

# finds NUMBER PROCESS THREAD: what 'quipu when' finds for own[NUMBER] in PROCESS is of THREAD, and goto leads there,
# as it does to the moment that the program has said, in the process of that thread.
finds() {
    local moment said
    ends 0 quipu when --process="$2" "own[$1] == 195" run.rec
    moment=$(sed -n 's/^  moment  *\([^ ]*\).*/\1/p' output)
    [[ $moment == count+*/$3~* ]] || fail "'$moment' is no moment of thread $3"
    ends 0 quipu goto --print "$moment" run.rec
    grep -qF "$moment  commands.c:25" output || fail "not at '$moment': $(cat output)"
    if [[ -n ${named-} ]]; then
        grep -q '^#1 .* work  commands.c:' output || fail "no calls: $(cat output)"
    fi
    said=$(grep -E " $1 190$" recorded.out)
    ends 0 quipu goto --print --process="$2" "${said%% *}" run.rec
    grep -qE "^say\+.*/$3~" output || fail "not at '$said': $(cat output)"
}

# tells PROCESS NUMBER STATUS: the last writes to own[NUMBER] in PROCESS, up to the end of that.
tells() {
    ends "$3" quipu watch --process="$1" -e "own[$2]" --if 'new>197' --format=json run.rec
    grep -oE '"new": *"?[0-9]+|"new":[0-9]+' messages | grep -oE '[0-9]+' >values
    cmp - values <<<$'198\n199\n200' || fail "other writes: $(cat messages)"
}

looks() {
    finds 1 1 1:1
    finds 0 1/1 1/1
    tells 1 1 6
    tells 1/1 0 4
}

named=yes
records 6 ./commands
looks
ends 6 quipu watch -e 'own[1]' --summary run.rec # the first process with debug information
ends 1 quipu goto --print "count@3/1:9" run.rec
said "has no thread 1:9"
ends 1 quipu goto --print --process=1 "count@3/1/1" run.rec
said "thread 1/1 is of another process"
ends 1 quipu goto --print "count@3/1/9" run.rec
said "no process '1/9'"

ends 6 quipu record --last=0.2 -o run.rec -- ./commands
cp output recorded.out
quipu info run.rec | grep -c '^  begins  *in the middle' >begins || fail "all of the run is kept"
looks

ends 0 quipu pack run.rec
mv commands gone
named=
looks

#!/bin/bash
# Programs that nobody here wrote, with files that are gone in the replay, standard input from files and
# pipes, and output to descriptors that dup has made.
# timeout: 300
. "$(dirname "$0")/lib.bash"
seq 1 20000 >numbers
for ((i = 0; i < 3000; i++)); do echo "line $((i * 7919 % 3001)) of the text"; done >text
echo 'scale=60; 4*a(1)' >pi

# tries PROGRAM: it is installed.
tried=0
tries() {
    command -v "$1" >/dev/null && ((++tried))
}

# repeats_without FILE STATUS COMMAND...: the same as repeats, and FILE is gone in the replay.
repeats_without() {
    local file=$1
    shift
    records "$@"
    mv "$file" gone
    replays "$1"
    mv gone "$file"
    shift
    cmp recorded.out replayed.out && cmp recorded.err replayed.err || fail "'$*': the replay differs"
}

tries grep && repeats_without text 0 grep -n 'line 1' text
tries grep && repeats 1 grep nothing numbers
tries grep && repeats 2 grep x missing
tries sort && repeats_without text 0 sort -k 2n text
tries gzip && input=text repeats 0 gzip -9
tries gzip && repeats_without numbers 0 gzip -c numbers
tries bzip2 && repeats_without numbers 0 bzip2 -c numbers
tries mawk && repeats_without numbers 0 mawk '{ s += $1 } END { print s, rand() }' numbers
tries bc && input=pi repeats 0 bc -l
tries lua5.4 && repeats 0 lua5.4 -e 'print(os.time(), math.random(), {})'
tries perl && repeats 4 perl -e 'print rand(), " ", time, "\n"; print STDERR "$$\n"; exit 4'
tries python3.11 && repeats 0 python3.11 -c 'import os, random, time
print(random.random(), time.time(), os.getpid(), hash("x"), os.listdir("/"))'
tries sqlite3 && repeats 0 sqlite3 data 'create table t(a, b);
insert into t values (random(), datetime("now")), (2, randomblob(8)); select a, b, hex(b) from t;'
tries sqlite3 && repeats_without data 0 sqlite3 data 'select count(*), sum(a) from t;'
tries dash && repeats 7 dash -c 'echo to $$; echo error >&2; echo both >>/dev/stderr
exec 5>&1 1>file; echo hidden; echo shown >&5; read line </proc/uptime; echo "$line" >&5; exit 7'
tries ls && repeats 0 ls -la /
tries cat && repeats_without text 0 cat text - numbers
tries date && repeats 0 date +%s.%N
if [[ $tried -lt 10 ]]; then
    echo "skipped: too few of the programs are installed"
    exit 77
fi

# From a pipe that another program fills slowly.
status=0
(for i in 1 2 3; do echo "$i"; sleep 0.1; done) |
    quipu record -o run.rec -- sort -r >recorded.out || status=$?
[[ $status -eq 0 && $(<recorded.out) == $'3\n2\n1' ]] || fail "it was not recorded from a pipe"
replays 0
cmp recorded.out replayed.out || fail "the replay of a run with a pipe differs"

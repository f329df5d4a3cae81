#!/bin/bash
# 5,000 processes of a large program: their files take space for what they ran, and every reader takes
# them in memory for one, and in some seconds.
# timeout: 3600
. "$(dirname "$0")/lib.bash"
processes=5000
memory=600000 # kilobytes of addresses; the files are gigabytes
seconds=20    # of processor time, for the summing readers; a quiet machine takes a third
fetch sqlite3
cd sqlite3 || exit 1
CC=quipu-cc CFLAGS='-O1 -g -DSQLITE_ENABLE_FTS5' step ./configure --disable-readline --disable-shared
CC=quipu-cc step make -j2 sqlite3
instrumented sqlite3 1500
cd "$top" || exit 1

mkdir "$data"
run_some() {
    for ((i = $1; i < processes; i += 2)); do
        QUIPU_DATA=$data ./sqlite3/sqlite3 :memory: "select $i % 7;" || echo failed
    done
}
{ run_some 0 & run_some 1 && wait; } >answers 2>errors
[[ $(wc -l <answers) -eq $processes && ! -s errors ]] || fail "a run failed: $(head -n 3 errors)"
awk '{ sum += $1 } END { exit sum < 14000 }' answers || fail "answers: $(sort answers | uniq -c)"
files=("$data"/*.quipu)
[[ ${#files[@]} -eq $processes ]] || fail "${#files[@]} files"

# Where holes can be, they are.
size=$(du -s --apparent-size "$data" | cut -f1)
taken=$(du -s "$data" | cut -f1)
echo "$processes files of $((size / processes)) KiB take $((taken / processes)) KiB each"
if [[ $(($(stat -f -c '%a * %S' .))) -gt $((5 << 30)) ]]; then
    [[ $((taken * 10)) -lt $((size * 9)) ]] || fail "the files have no holes"
fi

# reads LIMIT COMMAND...: in the memory, and with no more seconds of processor time than LIMIT
reads() {
    local limit=$1 TIMEFORMAT='%U %S'
    shift
    { time (ulimit -v $memory && exec quipu "$@" >output 2>messages) || touch failed; } 2>taken
    [[ ! -e failed ]] || fail "'$*': $(tail -n 3 messages)"
    ! grep -qv '^quipu: reading ' messages || fail "'$*': $(cat messages)"
    awk -v limit="$limit" -v words="$*" '{ print $1 + $2 " s  quipu " words; exit $1 + $2 > limit }' \
        taken || fail "'$*' takes too long"
}
reads $seconds report --limit=5 "$data"
reads $seconds report --by=module --format=json "$data"
python3 -c "
import json
modules = json.load(open('output'))['modules']
print(sum(m['instructions'] for m in modules))" >total
reads $((2 * seconds)) report --by=process --format=json "$data"
python3 -c "
import json
processes = json.load(open('output'))['processes']
assert len(processes) == $processes
assert sum(p['instructions'] for p in processes) == int(open('total').read())" || fail "other sums"
reads $((2 * seconds)) report --by=thread --format=csv "$data"
reads $((2 * seconds)) info "$data"
reads $seconds annotate --hot=3 --data="$data"
reads $seconds export --to=json -o export.json "$data"
reads $seconds export --to=callgrind -o callgrind.out "$data"
reads $seconds merge -o sum.quipu "$data"
reads $seconds diff --limit=3 "$data" sum.quipu
grep -q '+0.00%.*total$' output || fail "the sum differs: $(cat output)"
quipu report --by=module --format=json sum.quipu | python3 -c "
import json, sys
modules = json.load(sys.stdin)['modules']
assert sum(m['instructions'] for m in modules) == int(open('total').read())" || fail "the merged sum is another"

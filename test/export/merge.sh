#!/bin/bash
# merge.sh: a merged file is a data file whose counts are the sums; files of different builds, bad
# files and bad places are refused, and what was there stays.
. "$(dirname "$0")/lib.bash"
needs python3

build_program counted -O2
run_program counted one 10
run_program counted two 50
run_program counted two 33

# "NAME INSTRUCTIONS CALLS" of all functions.
counts() {
    "$quipu" report --by=function --format=json "$@" | python3 -c '
import json, sys
for f in json.load(sys.stdin)["functions"]:
    print(f["name"], f["instructions"], f["calls"])' | sort
}

counts one two >apart.txt
"$quipu" merge -o all.quipu one two
counts all.quipu >merged.txt
cmp -s apart.txt merged.txt || fail "counts of the merged file are not the sums: $(diff apart.txt merged.txt)"
[ "$(wc -l <merged.txt)" -ge 5 ] || fail "the merged file holds too few functions"

# heading FILE TEXT: the report's heading begins so.
heading() {
    "$quipu" report "$1" | head -n 1 >heading.txt
    [[ $(cat heading.txt) == "$2"* ]] || fail "the heading of '$1': $(cat heading.txt)"
}
heading all.quipu 'counted: 3 merged processes, '
"$quipu" export --to=html -o page.html all.quipu
grep -Eq '"processes": ?3,' page.html || fail "the page has another number of processes"
python3 - <<'END' # as older versions wrote it
data = bytearray(open('all.quipu', 'rb').read())
data[104:112] = bytes(8)
open('old.quipu', 'wb').write(data)
END
heading old.quipu 'counted and others: merged processes, '
"$quipu" merge -o older.quipu old.quipu one
heading older.quipu 'counted and others: merged processes, '
cp counted second
run_program second third 10
"$quipu" merge -o mixed.quipu third all.quipu
heading mixed.quipu 'second and others: 4 merged processes, '
"$quipu" export --to=callgrind -o merged.callgrind all.quipu
grep -qx 'desc: Processes: merged' merged.callgrind ||
    fail "callgrind's head of a merged file: $(grep '^desc:' merged.callgrind)"

"$quipu" merge -o again.quipu one two
cmp -s all.quipu again.quipu || fail "merging the same files twice gives different bytes"

# The sum of sums, into a file that is one of its parts.
"$quipu" merge -o all.quipu all.quipu one
counts one two one >apart.txt
counts all.quipu >merged.txt
cmp -s apart.txt merged.txt || fail "a merged file does not merge again"
[ "$(ls)" = "$(ls | grep -v 'all\.quipu\.')" ] || fail "a temporary file stayed behind"

python3 - all.quipu <<'END' || fail "the header is not that of a merged file"
import struct, sys
data = open(sys.argv[1], "rb").read()
magic, version, header, size, lock, flags, pid, parent = struct.unpack_from("<8sIIQIIII", data)
assert (magic, version, header, size) == (b"\x89quipu\r\n", 1, 4096, len(data))
assert (lock, flags, pid, parent) == (0, 1, 0, 0)
END

# Another build of the same path.
cp counted counted.first
build_program counted -O1
run_program counted other 10
before=$(sha256sum all.quipu)
expect_error 1 "different builds of" "$quipu" merge -o all.quipu one other
[ "$before" = "$(sha256sum all.quipu)" ] || fail "a refused merge changed its output"

head -c 5000 "$(ls one/*)" >short.quipu
expect_error 1 "short.quipu" "$quipu" merge -o out.quipu one short.quipu
expect_error 1 "no quipu data file" "$quipu" merge -o out.quipu "$program/main.c"
expect_error 1 "gone.quipu" "$quipu" merge -o out.quipu gone.quipu
mkdir empty
expect_error 1 "no data file" "$quipu" merge -o out.quipu empty
expect_error 1 "no regular file" "$quipu" merge -o empty one
expect_error 1 "no/such/out.quipu" "$quipu" merge -o no/such/out.quipu one
expect_error 1 "-o OUT" "$quipu" merge one
expect_error 1 "no data was given" "$quipu" merge -o out.quipu
[ ! -e out.quipu ] || fail "a failed merge left an output"

#!/bin/bash
# calls.sh: calling contexts as 'quipu report --by=callsite' and exports tell them, also to the real
# tools; runs at different addresses added up; damaged trees refused.  add_contexts.py makes the
# trees, so that every number is known.
. "$(dirname "$0")/lib.bash"
needs python3 nm objdump callgrind_annotate protoc

scan=_ZN4tree4scanEi look_up=_ZN4tree7look_upEi fibonacci=_Z9fibonaccii compare=_ZL7comparePKvS0_

# 10000 instructions: parent, site, callee, calls, inclusive, exclusive
nodes="[[0, 4096, \"main\", 1, 10000, 500],
    [1, \"main:$scan:0\", \"$scan\", 1, 2000, 400],
    [2, \"$scan:$look_up:0\", \"$look_up\", 10, 1500, 1500],
    [2, \"$scan:$look_up:1\", \"$look_up\", 1, 100, 100],
    [1, \"main:$scan:1\", \"$scan\", 1, 3000, 900],
    [5, \"$scan:$look_up:0\", \"$look_up\", 20, 2000, 2000],
    [5, \"$scan:$look_up:1\", \"$look_up\", 1, 100, 100],
    [1, \"main:$fibonacci:0\", \"$fibonacci\", 1, 4000, 1000],
    [8, \"$fibonacci:$fibonacci:0\", \"$fibonacci\", 50, 2600, 1600],
    [9, \"$fibonacci:$fibonacci:1\", \"$fibonacci\", 30, 1000, 1000],
    [8, \"$fibonacci:$fibonacci:1\", \"$fibonacci\", 7, 400, 400],
    [1, 8192, \"$compare\", 5, 500, 500]]"

# tree CAPACITY NODES: a thread's tree as add_contexts.py takes it.  It began with 1.
tree() {
    echo "[{\"thread\": 1, \"owner\": 77, \"flags\": 0, \"capacity\": $1, \"now\": 10001, \"nodes\": $2}]"
}

# run_with DATA TREE [DAMAGE]: runs the program, and gives its data the tree.
run_with() {
    local data=$1
    shift
    QUIPU_DATA=$data ./calls >/dev/null
    python3 "$here/add_contexts.py" "$(ls "$data"/*.quipu)" "$@"
}

build_calls() {
    "$quipu" cc -x c++ -g -O1 "$@" "$program/calls.cc" -lstdc++ -o calls
}

# "CALLER LINE CALLEE CALLS INSTRUCTIONS" of every call site.
rows() {
    "$quipu" report --by=callsite --format=csv "$@" >rows.csv
    python3 - rows.csv <<'END' | sort
import csv, sys
for row in csv.DictReader(open(sys.argv[1])):
    print(row["caller"] or "-", row["line"] or "-", row["callee"], row["calls"],
          row["instructions"])
END
}

# expected FACTOR: the same, of that many runs.  A call within one from the same place counts its
# instructions once: 1000 + 400 of the second one in fibonacci, as they are on different paths.
expected() {
    sort <<END
- - main $1 $(($1 * 10000))
main 32 $scan $1 $(($1 * 2000))
main 33 $scan $1 $(($1 * 3000))
$scan 13 $look_up $(($1 * 30)) $(($1 * 3500))
$scan 14 $look_up $(($1 * 2)) $(($1 * 200))
main 34 $fibonacci $1 $(($1 * 4000))
$fibonacci 22 $fibonacci $(($1 * 50)) $(($1 * 2600))
$fibonacci 23 $fibonacci $(($1 * 37)) $(($1 * 1400))
main - $compare $(($1 * 5)) $(($1 * 500))
END
}

# same WHAT FILE FILE: they are.
same() {
    cmp -s "$2" "$3" || fail "$1: $(diff "$2" "$3")"
}

# ---- the report ----

build_calls --quipu=count,event
run_with one "$(tree 1000 "$nodes")"
run_with two "$(tree 5 "$nodes")"
rows one >rows.txt
expected 1 >expected.txt
same 'the call sites' expected.txt rows.txt
rows two >rows.txt
same 'the call sites of a tree in three chunks' expected.txt rows.txt
rows one two >rows.txt
expected 2 >expected.txt
same 'the call sites of two runs' expected.txt rows.txt

"$quipu" report --by=callsite one >text.txt
grep -q '10000 instructions executed' text.txt || fail "the heading tells another number: $(cat text.txt)"
grep -q '^ *3500 *35.0% *30  tree::look_up(int) *tree::scan(int) (.*calls.cc:13)$' text.txt ||
    fail "a row of the text is another: $(cat text.txt)"
[ "$("$quipu" report --by=callsite --format=json one | python3 -c '
import json, sys
report = json.load(sys.stdin)
print([row["instructions"] for row in report["callsites"]], report["totals"])')" = \
    "[10000, 4000, 3500, 3000, 2600, 2000, 1400, 500, 200] {'calls': 128}" ] || fail "JSON is not sorted, or lacks a row"
rows --function='*look_up*' one >rows.txt
[ "$(wc -l <rows.txt)" = 2 ] || fail "--function lets through: $(cat rows.txt)"
expect_error 1 'none of the data is of it' "$quipu" report --by=callsite --thread=1 one
grep -q '^  calls  *12 contexts$' < <("$quipu" info one) || fail "info does not count the contexts"

# ---- JSON: the whole tree, and its call sites ----

"$quipu" export --to=json -o all.json one
python3 - all.json "$nodes" "$scan" "$look_up" <<'END' || fail "the JSON export does not have the tree: $(tail -c 3000 all.json)"
import json, subprocess, sys
export = json.load(open(sys.argv[1]))
nodes, scan, look_up = json.loads(sys.argv[2]), *sys.argv[3:5]
calls = export["calls"]
assert (calls["instructions"], calls["threads"]) == (10000, 1)
functions, sites, tree = calls["functions"], calls["sites"], calls["tree"]
found = [(node["parent"], functions[node["function"]]["name"], node["calls"], node["inclusive"],
          node["exclusive"]) for node in tree]
expected = [(parent - 1 if parent else None, callee, count, inclusive,
             inclusive - sum(node[4] for node in nodes if node[0] == number))
            for number, (parent, _, callee, count, inclusive, _) in enumerate(nodes, 1)]
assert found == expected, (found, expected)

def names(call):
    return [None if i is None else functions[i]["name"] for i in (call["caller"], call["callee"])]

here, = (call for call in calls["callsites"] if call["calls"] == 30)
assert names(here) == [scan, look_up]
assert (here["instructions"], here["outermost"]) == (3500, 3500)
inner, = (call for call in calls["callsites"] if call["calls"] == 37)
assert (inner["instructions"], inner["outermost"]) == (1400, 0), inner
site = sites[here["site"]]
assert functions[site["function"]]["name"] == scan and site["line"] == 13, site
assert site["file"].endswith("/calls.cc")
assert export["modules"][site["module"]]["path"].endswith("/calls")
code = {}
for line in subprocess.run(["objdump", "-d", "calls"], check=True, capture_output=True,
                           text=True).stdout.splitlines():
    if line.startswith(" "):
        code[int(line.split(":")[0], 16)] = line
assert "call" in code[site["call"]] and look_up in code[site["call"]] and site["address"] in code
assert [names(call)[0] for call in calls["callsites"] if call["site"] is None] == [None, "main"]
END
QUIPU_DATA=without ./calls >/dev/null
grep -q '^  "calls": null,$' < <("$quipu" export --to=json without) || fail "without a tree the JSON export has calls"

# ---- sums ----

"$quipu" merge -o sum.quipu one two
"$quipu" merge -o sum.quipu sum.quipu one
rows sum.quipu >rows.txt
expected 3 >expected.txt
same 'the call sites of a sum of sums' expected.txt rows.txt
"$quipu" merge -o a.quipu one two
"$quipu" merge -o b.quipu one two
cmp -s a.quipu b.quipu || fail "merging the same files twice gives different bytes"

# ---- paths ----

collapsed() {
    cat <<END
main $((500 * $1))
main;tree::scan(int) $((1300 * $1))
main;tree::scan(int);tree::look_up(int) $((3700 * $1))
main;fibonacci(int) $((1000 * $1))
main;fibonacci(int);fibonacci(int) $((2000 * $1))
main;fibonacci(int);fibonacci(int);fibonacci(int) $((1000 * $1))
main;compare(void const*, void const*) $((500 * $1))
END
}
collapsed 1 >expected.txt
"$quipu" export --to=collapsed -o paths.txt one
same 'the collapsed paths' expected.txt paths.txt
collapsed 3 >expected.txt
"$quipu" export --to=collapsed -o paths.txt sum.quipu
same 'the collapsed paths of a sum' expected.txt paths.txt

# ---- pprof: read by Google's own reader of the format, with the fields that pprof reads ----

cat >profile.proto <<'END'
syntax = "proto3";
message Profile { repeated ValueType sample_type = 1; repeated Sample sample = 2;
    repeated Mapping mapping = 3; repeated Location location = 4; repeated Function function = 5;
    repeated string string_table = 6; int64 drop_frames = 7; int64 keep_frames = 8;
    int64 time_nanos = 9; int64 duration_nanos = 10; ValueType period_type = 11; int64 period = 12;
    repeated int64 comment = 13; int64 default_sample_type = 14; }
message ValueType { int64 type = 1; int64 unit = 2; }
message Sample { repeated uint64 location_id = 1; repeated int64 value = 2; }
message Mapping { uint64 id = 1; uint64 memory_start = 2; uint64 memory_limit = 3;
    uint64 file_offset = 4; int64 filename = 5; int64 build_id = 6; bool has_functions = 7;
    bool has_filenames = 8; bool has_line_numbers = 9; bool has_inline_frames = 10; }
message Location { uint64 id = 1; uint64 mapping_id = 2; uint64 address = 3; repeated Line line = 4; }
message Line { uint64 function_id = 1; int64 line = 2; }
message Function { uint64 id = 1; int64 name = 2; int64 system_name = 3; int64 filename = 4;
    int64 start_line = 5; }
END
"$quipu" export --to=pprof -o profile.pb.gz one
"$quipu" export --to=pprof one >again
cmp -s profile.pb.gz again || fail "the profile is another on standard output"
gzip -dc profile.pb.gz | protoc --decode=Profile profile.proto >profile.txt 2>decode.err ||
    fail "protoc does not read the profile: $(cat decode.err)"
build_id=$(readelf -n calls | sed -n 's/.*Build ID: //p')
python3 - profile.txt "$build_id" >samples.txt <<'END' || fail "the profile does not hold together"
import re, sys

def parse(lines):
    """Messages as lists of (name, value)."""
    fields = []
    for line in lines:
        line = line.strip()
        if line == "}":
            return fields
        if line.endswith("{"):
            fields.append((line[:-2], parse(lines)))
        else:
            name, value = line.split(": ", 1)
            if value.startswith('"'):
                value = value[1:-1]
            elif value.isdigit():
                value = int(value)
            fields.append((name, value))
    return fields

def all_of(message, name):
    return [value for key, value in message if key == name]

def one_of(message, name):
    found = all_of(message, name)
    return found[0] if found else 0

profile = parse(iter(open(sys.argv[1])))
texts = all_of(profile, "string_table")
assert texts[0] == ""
types = [(texts[one_of(t, "type")], texts[one_of(t, "unit")]) for t in all_of(profile, "sample_type")]
assert types == [("instructions", "count"), ("calls", "count")], types
assert texts[one_of(profile, "default_sample_type")] == "instructions"
assert one_of(profile, "time_nanos") > 1 << 60
mapping, = all_of(profile, "mapping")
assert texts[one_of(mapping, "build_id")] == sys.argv[2]
functions = {one_of(f, "id"): f for f in all_of(profile, "function")}
locations = {one_of(l, "id"): l for l in all_of(profile, "location")}
assert 0 not in functions and 0 not in locations

def text_of(location):
    line, = all_of(locations[location], "line")
    assert one_of(mapping, "memory_start") <= one_of(locations[location], "address") \
        < one_of(mapping, "memory_limit")
    function = functions[one_of(line, "function_id")]
    assert texts[one_of(function, "filename")].endswith("/calls.cc")
    return f'{texts[one_of(function, "name")]}:{one_of(line, "line")}'

for sample in all_of(profile, "sample"):
    path = [text_of(location) for location in all_of(sample, "location_id")]
    print(*reversed(path), *all_of(sample, "value"), sep=" ")
END
cat >expected.txt <<'END'
main:30 500 1
main:32 tree::scan(int):10 400 1
main:32 tree::scan(int):13 tree::look_up(int):6 1500 10
main:32 tree::scan(int):14 tree::look_up(int):6 100 1
main:33 tree::scan(int):10 900 1
main:33 tree::scan(int):13 tree::look_up(int):6 2000 20
main:33 tree::scan(int):14 tree::look_up(int):6 100 1
main:34 fibonacci(int):19 1000 1
main:34 fibonacci(int):22 fibonacci(int):19 1600 50
main:34 fibonacci(int):22 fibonacci(int):23 fibonacci(int):19 1000 30
main:34 fibonacci(int):23 fibonacci(int):19 400 7
main:30 compare(void const*, void const*):26 500 5
END
same 'the samples of the profile' expected.txt samples.txt

# ---- callgrind_annotate ----

# "INSTRUCTIONS NAME" of each function as callgrind_annotate tells it, callees included.
inclusive() {
    callgrind_annotate --inclusive=yes --tree=both --auto=no --threshold=100 "$1" 2>annotate.err |
        sed -n 's/^ *\([0-9,]*\) ([ 0-9.]*%)  \*  .*calls\.cc:\(.*\) \[.*\]$/\1 \2/p' |
        awk '{ gsub(",", "", $1); print }' | sort
    [ ! -s annotate.err ] || fail "callgrind_annotate complains: $(cat annotate.err)"
}
sort >expected.txt <<'END'
10000 main
4000 fibonacci(int)
500 compare(void const*, void const*)
3700 tree::look_up(int)
5000 tree::scan(int)
END
"$quipu" export --to=callgrind -o counts.out one
inclusive counts.out >inclusive.txt
same "callgrind_annotate's inclusive costs" expected.txt inclusive.txt
# The address of a call is that of its instruction.
call=$(sed -n 's/^0x\([0-9a-f]*\) 13 3500$/\1/p' counts.out)
[ -n "$call" ] || fail "no cost stands at line 13"
objdump -d calls >calls.txt
grep -q "^ *$call:.*call.*$look_up" calls.txt || fail "what is at $call is no call of look_up"

# Without counts each function has its own instructions at its begin.
build_calls --quipu=event
rm -rf one
run_with one "$(tree 3 "$nodes")"
"$quipu" export --to=callgrind -o calls.out one
inclusive calls.out >inclusive.txt
same "callgrind_annotate's inclusive costs without counts" expected.txt inclusive.txt
grep -qx 'totals: 10000' calls.out || fail "the total is another: $(grep totals calls.out)"
rows one >rows.txt
expected 1 >expected.txt
same 'the call sites of a program without counts' expected.txt rows.txt

# Stripped, its functions are numbers; what they did is the same.
strip -o bare calls
mv bare calls
"$quipu" report --by=callsite --format=csv one >rows.csv
grep -q ',calls+0x[0-9a-f]*,,,/.*/calls,30,3500' rows.csv || fail "a stripped program has other call sites: $(cat rows.csv)"
[ "$("$quipu" export --to=collapsed one | awk '{ sum += $NF } END { print sum }')" = 10000 ] ||
    fail "a stripped program has other counts"
build_calls --quipu=count,event

# ---- calls that have not returned: the thread's count is added ----

running=${nodes/\"main\", 1, 10000, 500/\"main\", 1, -1, 500}
running=${running/1, 3000, 900/1, -7001, 900}
rm -rf one
run_with one "$(tree 1000 "$running")"
rows one >rows.txt
same 'the call sites of a program that runs' expected.txt rows.txt

# ---- damage ----

refuse() {
    rm -rf damaged
    run_with damaged "$(tree 5 "$nodes")" "$2"
    expect_error 1 "$1" "$quipu" report --by=callsite damaged
}
refuse 'impossible numbers of calling contexts' "head['count'] = 6"
refuse 'impossible numbers of calling contexts' "head['capacity'] = 1 << 31"
refuse 'do not follow each other' "head['capacity'] = 6"
refuse 'do not follow each other' "head['first_index'] = 1"
refuse 'do not follow each other' "head['thread'] = 2"
refuse 'in front of its parent' 'nodes[2][0] = 4'
refuse 'in front of its parent' 'nodes[2][0] = 3'
refuse 'in front of its parent' 'nodes[2][0] = 0'
refuse 'in front of its parent' 'nodes[2][0] = 2**32 - 1'
# Beside others, what is damaged is left out.
rm -rf both
run_with both "$(tree 5 "$nodes")"
cp damaged/* both/damaged.quipu
"$quipu" report --by=callsite --format=csv both >rows.txt 2>errors.txt ||
    fail "a damaged tree beside others: $(cat errors.txt)"
grep -q 'in front of its parent; they are left out' errors.txt ||
    fail "the damaged tree is not told of: $(cat errors.txt)"
rm both/damaged.quipu
"$quipu" report --by=callsite --format=csv both >expected.txt
same 'the call sites beside a damaged tree' expected.txt rows.txt
# A node that was taken when the process was killed, and not yet filled in, is passed over.
rm -rf damaged
run_with damaged "$(tree 1000 "$nodes")" 'nodes[11] = [0] * 6'
rows damaged >rows.txt
[ "$(wc -l <rows.txt)" = 9 ] || fail "a node that is not filled in changes others: $(cat rows.txt)"
refuse "impossible place of its thread's count" "head['events_cell'] = 1 << 40"
refuse "impossible place of its thread's count" "head['events_cell'] = 12"
refuse 'impossible size' "head['size'] = 1 << 40"
refuse 'impossible size' "head['size'] = 64"
rm -rf damaged
run_with damaged "$(tree 5 "$nodes")"
truncate -s -4096 damaged/*.quipu
expect_error 1 'it is truncated' "$quipu" report --by=callsite damaged

# ---- none ----

QUIPU_DATA=nocalls ./calls >/dev/null
expect_error 1 '--quipu=calls' "$quipu" report --by=callsite nocalls
expect_error 1 '--quipu=calls' "$quipu" export --to=collapsed nocalls
expect_error 1 '--quipu=calls' "$quipu" export --to=pprof -o out nocalls
[ ! -e out ] || fail "an export that failed left a file"

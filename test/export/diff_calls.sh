#!/bin/bash
# diff_calls.sh: differences of programs with calling contexts, by function with all that it called and
# by call site: numbers are those that the reports tell, calls those that the source makes.
. "$(dirname "$0")/lib.bash"
needs python3

mkdir old new
cat >old/p.c <<'END'
__attribute__((noinline)) int leaf(int n) { return n * 3; }
__attribute__((noinline)) int deep(int n) { return n ? deep(n - 1) + leaf(n) : 0; }
__attribute__((noinline)) int goes(int n) { return leaf(n) + 4; }
__attribute__((noinline)) int keeps(int n) {
    int sum = leaf(n);
    sum += leaf(n + 1) * leaf(n + 2);
    return sum + 1;
}
__attribute__((noinline)) int moves(int n) {
    int sum = leaf(n);
    return sum * leaf(n + 1);
}
__attribute__((noinline)) int gains(int n) {
    int sum = leaf(n);
    sum += leaf(sum) + 2;
    return sum + 5;
}
int main(void) {
    int sum = goes(2);
    sum += deep(10) + gains(1);
    sum += keeps(1) + moves(2);
    for (int i = 0; i < 5; i++)
        sum += leaf(i);
    return sum & 1;
}
END
# Lines move, a function goes, another comes, calls are made more often.
{
    echo '// one line more'
    sed -e 's/goes/comes/' -e 's/deep(10)/deep(30)/' -e 's/i < 5/i < 7/' \
        -e 's/return sum + 5/return leaf(sum)/' -e 's/^.*moves(int n) {/&\n    __asm__("nop");\n\n/' old/p.c
} >new/p.c
for build in old new; do
    for mode in calls count,calls; do
        "$quipu" cc -g -O1 -fno-ipa-ra -fno-unroll-loops --quipu=$mode $build/p.c -o $build/$mode.out
        QUIPU_DATA=$build/$mode $build/$mode.out || true
    done
    "$quipu" report --by=callsite --format=json $build/calls >$build.json
done

"$quipu" diff --all --by=callsite --format=json old/calls new/calls >sites.json
"$quipu" diff --all --by=callsite --format=csv old/calls new/calls >sites.csv
"$quipu" diff --all --by=inclusive --format=json old/calls new/calls >functions.json
"$quipu" diff --all --format=json old/calls new/calls >default.json
cmp -s functions.json default.json || fail "without counts a comparison is not by inclusive ones"
python3 - <<'END' || fail "the differences are not those of the reports"
import csv, json
sides = [json.load(open(name))["callsites"] for name in ("old.json", "new.json")]
diff = json.load(open("sites.json"))
rows = {}
for row in diff["callsites"]:
    rows.setdefault((row["caller"], row["callee"]), []).append(row)

# Every call of the reports is in the comparison, with its numbers.
for number, side in enumerate(("before", "after")):
    expected = sorted((r.get("caller", ""), r["callee"], r["calls"], r["instructions"])
                      for r in sides[number])
    found = sorted((r["caller"], r["callee"], r["calls"][side], r["instructions"][side])
                   for r in diff["callsites"] if r["status"] != ("new", "removed")[number])
    assert expected == found, (expected, found)

def of(caller, callee):
    return [(r["status"], r["calls"]["before"], r["calls"]["after"])
            for r in sorted(rows[caller, callee], key=lambda r: r["line"])]

assert of("", "main") == [("changed", 1, 1)]
assert of("main", "goes") == [("removed", 1, 0)] and of("main", "comes") == [("new", 0, 1)]
assert of("main", "deep") == [("changed", 1, 1)]
assert of("deep", "deep") == [("changed", 10, 30)] and of("deep", "leaf") == [("changed", 10, 30)]
assert of("keeps", "leaf") == 3 * [("unchanged", 1, 1)], rows["keeps", "leaf"]
assert of("moves", "leaf") == 2 * [("unchanged", 1, 1)], rows["moves", "leaf"]
assert of("gains", "leaf") == 2 * [("unchanged", 1, 1)] + [("new", 0, 1)], rows["gains", "leaf"]
assert of("main", "leaf") == [("changed", 5, 7)]
assert [r["line"] for r in rows["main", "leaf"]] == [27], rows["main", "leaf"]
table = list(csv.DictReader(open("sites.csv", newline="")))
assert [(r["caller"], r["callee"], int(r["calls_delta"]), int(r["instructions_delta"]))
        for r in table] == [(r["caller"], r["callee"], r["calls"]["delta"],
                             r["instructions"]["delta"]) for r in diff["callsites"]]

# By function: the outermost calls, so recursion counts once.
functions = {r["name"]: r for r in json.load(open("functions.json"))["functions"]}
calls = {name: (r["calls"]["before"], r["calls"]["after"]) for name, r in functions.items()}
assert calls == {"main": (1, 1), "goes": (1, 0), "comes": (0, 1), "deep": (11, 31), "keeps": (1, 1),
                 "moves": (1, 1), "gains": (1, 1), "leaf": (1 + 10 + 7 + 5, 1 + 30 + 8 + 7)}, calls
outer = {r["callee"]: r["instructions"] for r in sides[1] if r.get("caller", "main") == "main"}
for name in ("deep", "keeps", "comes", "main"):
    assert functions[name]["instructions"]["after"] == outer[name], (name, functions[name])
leaves = sum(r["instructions"] for r in sides[1] if r["callee"] == "leaf")
assert functions["leaf"]["instructions"]["after"] == leaves
assert functions["keeps"]["status"] == "unchanged" and functions["deep"]["status"] == "changed"
totals = json.load(open("functions.json"))["totals"]
assert totals["instructions"] == functions["main"]["instructions"], totals
END
"$quipu" diff --by=callsite old/calls new/calls >text.txt
grep -q '^ .* new .* comes from main (new/p.c:23)$' text.txt || fail "the call of 'comes' is not marked as new: $(cat text.txt)"
! grep -q 'leaf from keeps' text.txt || fail "calls that did not change are shown: $(cat text.txt)"
grep -q 'call sites did not change$' text.txt || fail "what did not change is not told: $(cat text.txt)"

# With counts functions are compared by their own; all views have the same whole.
grep -q '"by": "function"' < <("$quipu" diff --format=json old/count,calls new/count,calls) ||
    fail "with counts a comparison is not by them"
for view in function inclusive callsite; do
    "$quipu" diff --by=$view --format=json old/count,calls new/count,calls |
        python3 -c 'import json, sys; print(json.load(sys.stdin)["totals"]["instructions"])'
done | sort -u >wholes.txt
[ "$(wc -l <wholes.txt)" = 1 ] || fail "the views differ in the whole: $(cat wholes.txt)"

"$quipu" diff --by=callsite --fail-above=0 new/calls old/calls >/dev/null || fail "shrinking fails"
expect_error 1 "more than the 5.0000% allowed" "$quipu" diff --by=callsite old/calls new/calls --fail-above=5
expect_error 1 "more than the 5.0000% allowed" "$quipu" diff old/calls new/calls --fail-above=5
expect_error 1 "no such view" "$quipu" diff --by=line old/calls new/calls
expect_error 1 "holds no counts of functions" "$quipu" diff --by=function old/calls new/count,calls
expect_error 1 "old/calls" "$quipu" diff --by=function new/count,calls old/calls
"$quipu" cc -g -O1 --quipu=count new/p.c -o new/count.out
QUIPU_DATA=new/count new/count.out || true
expect_error 1 "holds no calling contexts" "$quipu" diff --by=inclusive old/calls new/count
expect_error 1 "holds no counts of functions" "$quipu" diff old/calls new/count

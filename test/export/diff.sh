#!/bin/bash
# diff.sh: differences are those of the two reports, in every format, for two runs and two builds.
. "$(dirname "$0")/lib.bash"
needs python3

mkdir old new
cat >old/p.c <<'END'
__attribute__((noinline)) int same(int n) { return n * 3; }
__attribute__((noinline)) int grows(int n) { int s = 0; for (int i = 0; i < n; i++) s ^= i * s; return s; }
__attribute__((noinline)) int goes(int n) { return n + 4; }
int main(void) { return (same(1) + grows(100) + goes(2)) & 1; }
END
sed -e 's/grows(100)/grows(1000)/' -e 's/goes/comes/' old/p.c >new/p.c
for build in old new; do
    "$quipu" cc -g -O1 $build/p.c -o $build/p
    QUIPU_DATA=$build/data $build/p || true
    "$quipu" report --by=function --format=json $build/data >$build.json
done
"$quipu" diff --all --format=json old/data new/data >diff.json
"$quipu" diff --all --format=csv old/data new/data >diff.csv
"$quipu" diff old/data new/data >diff.txt
python3 - <<'END' || fail "the differences are not those of the reports"
import csv, json
sides = []
for name in ("old.json", "new.json"):
    sides.append({f["name"]: f for f in json.load(open(name))["functions"]})
old, new = sides
diff = json.load(open("diff.json"))
rows = {row["name"]: row for row in diff["functions"]}
assert set(rows) == set(old) | set(new), rows.keys()
zero = {"instructions": 0, "calls": 0}
for name, row in rows.items():
    for what in zero:
        before, after = old.get(name, zero)[what], new.get(name, zero)[what]
        assert (row[what]["before"], row[what]["after"]) == (before, after), (name, row)
        assert row[what]["delta"] == after - before, (name, row)
status = {name: row["status"] for name, row in rows.items()}
assert status == {"same": "unchanged", "grows": "changed", "goes": "removed", "comes": "new",
                  "main": status["main"]}, status
distances = [abs(row["instructions"]["delta"]) for row in diff["functions"]]
assert distances == sorted(distances, reverse=True) and distances[0] > 0, distances
totals = diff["totals"]["instructions"]
assert totals["after"] == sum(f["instructions"] for f in new.values())
assert abs(totals["percent"] - 100 * totals["delta"] / totals["before"]) < 1e-3
table = list(csv.DictReader(open("diff.csv", newline="")))
assert {row["name"]: int(row["instructions_delta"]) for row in table} == \
    {name: row["instructions"]["delta"] for name, row in rows.items()}
END
grep -q ' new .* comes ' diff.txt || fail "'comes' is not marked as new: $(cat diff.txt)"
grep -q ' removed .* goes ' diff.txt || fail "'goes' is not marked as removed: $(cat diff.txt)"
! grep -q ' same ' diff.txt || fail "'same' did not change, but is shown"
[ "$("$quipu" diff --limit=1 old/data new/data | grep -c 'p\.c:')" = 1 ] || fail "--limit=1 is not kept"
! grep -q $'\033' diff.txt || fail "colour stands in a file"
grep -q $'\033' < <("$quipu" diff --color=always old/data new/data) || fail "--color=always is not kept"

"$quipu" diff old/data new/data --fail-above=1000000% >/dev/null || fail "growth below the bound fails"
"$quipu" diff new/data old/data --fail-above=0 >/dev/null || fail "shrinking fails"
"$quipu" diff new/data new/data --fail-above=0 >/dev/null || fail "no growth fails"
expect_error 1 "more than the 5.0000% allowed" "$quipu" diff old/data new/data --fail-above=5
expect_error 1 "--fail-above takes" "$quipu" diff old/data new/data --fail-above=x
expect_error 1 "--limit takes" "$quipu" diff old/data new/data --limit=-1
expect_error 1 "no such format" "$quipu" diff old/data new/data --format=yaml
expect_error 1 "two runs are needed" "$quipu" diff old/data
expect_error 1 "gone" "$quipu" diff old/data gone

#!/bin/bash
# gcovr.sh: 'gcovr -a' reads the export, in the version of its format that it asks for, and tells the
# same as the lcov export; another version can be given.
. "$(dirname "$0")/lib.bash"
needs gcovr python3

cp "$program"/*.[ch] .
cat >compare.py <<'END'
import json, sys
lines, branches, functions, file = {}, {}, {}, None
for row in open("ours.info"):
    key, _, value = row.strip().partition(":")
    part = value.split(",")
    if key == "SF":
        file = value
    elif key == "DA":
        lines[file, int(part[0])] = int(part[1])
    elif key == "BRDA":
        branches.setdefault((file, int(part[0])), []).append(0 if part[3] == "-" else int(part[3]))
    elif key == "FNDA":
        functions[file, part[1]] = int(part[0])
ours = json.load(open(sys.argv[1]))
got = {}, {}, {}
for f in ours["files"]:
    for line in f["lines"]:
        got[0][f["file"], line["line_number"]] = line["count"]
        if line["branches"]:
            got[1][f["file"], line["line_number"]] = [b["count"] for b in line["branches"]]
    for function in f["functions"]:
        got[2][f["file"], function["name"]] = function["execution_count"]
assert lines and branches and functions
assert got == (lines, branches, functions), "the lcov export tells something else"
END
for level in -O0 -O2; do
    "$quipu" cc -g $level main.c table.c -o counted
    run_program counted data$level 50
    "$quipu" export --to=lcov -o ours.info data$level
    "$quipu" export --to=gcovr -o ours.json data$level
    python3 compare.py ours.json || fail "$level"
    gcovr --add-tracefile ours.json --csv -o lines.csv || fail "gcovr does not read it"
    gcovr --add-tracefile ours.json --html-details page.html || fail "gcovr makes no page"
    grep -q 'table\.c' page.html || fail "the page does not name 'table.c'"
    python3 - <<'END' || fail "$level: gcovr counts other lines"
import csv, os
counts = {}
for row in open("ours.info"):
    key, _, value = row.strip().partition(":")
    if key == "SF":
        inside = os.path.dirname(value) == os.path.realpath(".")  # others are left out
        count = counts.setdefault(os.path.basename(value), [0] * 4) if inside else [0] * 4
    elif key == "DA":
        count[0] += 1
        count[1] += value.split(",")[1] != "0"
    elif key == "BRDA":
        count[2] += 1
        count[3] += value.split(",")[3] not in ("0", "-")
names = ["line_total", "line_covered", "branch_total", "branch_covered"]
theirs = {r["filename"]: [int(r[n]) for n in names] for r in csv.DictReader(open("lines.csv"))}
assert theirs == counts, (theirs, counts)
END
done
"$quipu" export --to=gcovr --gcovr-format=9.9 --source-root=. data-O2 >other.json
grep -q '"gcovr/format_version": "9.9"' other.json || fail "the version is not the given one"
grep -q '"file": "main.c"' other.json || fail "the file is not named below the source root"

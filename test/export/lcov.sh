#!/bin/bash
# lcov.sh: genhtml and lcov read the export and count in it what is there; at -O0, where source and
# code agree line by line, the counts are gcov's.
. "$(dirname "$0")/lib.bash"
needs lcov genhtml gcov python3

# Counts of lines and calls as gcov has them, "FILE LINE COUNT" and "FILE NAME CALLS": what a header
# has in several units is added up.
gcov_counts() {
    python3 -c '
import collections, gzip, json, os, sys
counts = collections.Counter()
for name in sys.argv[1:]:
    for unit in json.load(gzip.open(name))["files"]:
        file = os.path.basename(unit["file"])
        for line in unit["lines"]:
            counts[file, str(line["line_number"])] += line["count"]
        for function in unit["functions"]:
            counts[file, function["name"]] += function["execution_count"]
for (file, key), count in counts.items():
    print(file, key, count)
' "$@" | sort
}

lcov_counts() {
    awk -F'[:,]' '/^SF:/ { n = split($2, path, "/"); file = path[n] }
                  /^DA:/ { print file, $2, $3 } /^FNDA:/ { print file, $3, $2 }' "$1" | sort
}

branches='--rc lcov_branch_coverage=1'
grep -q 'version 1' < <(lcov --version) || branches='--rc branch_coverage=1'
for level in -O0 -O2; do
    build_program counted$level $level
    run_program counted$level data$level 50
    "$quipu" export --to=lcov -o ours.info data$level
    genhtml --branch-coverage -o html ours.info >genhtml.txt 2>&1 ||
        fail "genhtml refuses the export at $level: $(cat genhtml.txt)"
    # lcov 2 would like to know where functions end, which lcov 1 cannot read.
    ! sed '/WARNING: (unsupported) Function begin/,/^ *1 warning message/d' genhtml.txt |
        grep -i -E 'warning|error' || fail "genhtml complains at $level: $(cat genhtml.txt)"
    lcov $branches --summary ours.info >summary.txt 2>&1 ||
        fail "lcov refuses the export at $level: $(cat summary.txt)"
    for kind in LF:lines FNF:functions BRF:branches; do
        found=$(awk -F: -v key="${kind%%:*}" '$1 == key { sum += $2 } END { print sum }' ours.info)
        grep -q "${kind#*:}\.*: .* of $found ${kind#*:}" summary.txt ||
            fail "lcov does not count $found ${kind#*:} at $level: $(cat summary.txt)"
    done
    awk -F'[:,]' '/^SF:/ { delete lines } /^FN:/ { heads[$2] = $3 } /^DA:/ { lines[$2] = 1 }
        /^end/ { for (line in heads) if (!(line in lines)) { print heads[line]; bad = 1 }; delete heads }
        END { exit bad }' ours.info >headless.txt ||
        fail "functions begin at lines that the export at $level does not have: $(cat headless.txt)"
    grep -q '^BRDA:.*,-$' ours.info || fail "no branch of the export at $level was never reached"
done

# No branches of gcov's here: its count of them is the compiler's, not the machine's.
gcc -O0 --coverage -c "$program/main.c" "$program/table.c"
gcc --coverage main.o table.o -o covered
./covered 50 >/dev/null
gcov --json-format main.gcda table.gcda >/dev/null
"$quipu" export --to=lcov -o ours.info data-O0
gcov_counts ./*.gcov.json.gz >theirs.txt
lcov_counts ours.info >ours.txt
[ "$(wc -l <theirs.txt)" -gt 30 ] || fail "gcov tells too little to compare"
grep -q '^table.h 3 ' theirs.txt || fail "gcov tells nothing of the header"
# gcov has lines of labels, which no instruction has, and none of closing braces, which have a return.
python3 - "$program" <<'END' || fail "counts differ from gcov's"
import sys
theirs, ours = ({tuple(line.split()[:2]): line.split()[2] for line in open(name)}
                for name in ("theirs.txt", "ours.txt"))
for (file, key) in set(theirs) | set(ours):
    text = open(f"{sys.argv[1]}/{file}").readlines()[int(key) - 1] if key.isdigit() else ""
    if text.strip() == "}" or text.strip().startswith(("case ", "default:")):
        continue
    left, right = theirs.get((file, key)), ours.get((file, key))
    assert left == right, f"{file}:{key}: {left} and {right}"
END

# Two inlined calls in one function are two copies of a line: it ran as often as both.
cat >copies.c <<'END'
volatile int cell;
static inline void bump(void) {
    cell++;
}
int main(void) {
    for (int i = 0; i < 10; i++)
        bump();
    bump();
    return 0;
}
END
"$quipu" cc -g -O2 copies.c -o copies
run_program copies data-copies
grep -qx 'DA:3,11' < <("$quipu" export --to=lcov data-copies) ||
    fail "a line in two inlined copies is not added up: $("$quipu" export --to=lcov data-copies)"

#!/bin/bash
# callgrind.sh: callgrind_annotate reads the export, and tells of every function what it tells of
# valgrind's own profile of the same code without instrumentation.
. "$(dirname "$0")/lib.bash"
needs valgrind callgrind_annotate python3

# "COUNT NAME" for each function of the program's own files, by name.
own_functions() {
    callgrind_annotate --auto=no --threshold=100 "$1" 2>annotate.err |
        sed -n 's/^ *\([0-9,]*\) ([ 0-9.]*%)  \(.*program\/[^:]*\):\([^ ]*\).*/\1 \3/p' | tr -d , |
        python3 -c '
import sys, re
counts = {}
for line in sys.stdin:
    count, name = line.split()
    name = re.sub(r"\x27\d+$", "", name)  # recursion: fibonacci and fibonacci\x272
    counts[name] = counts.get(name, 0) + int(count)
for name in sorted(counts):
    print(counts[name], name)'
    [ ! -s annotate.err ] || fail "callgrind_annotate complains of $1: $(cat annotate.err)"
}

for level in -O0 -O2; do
    build_program counted $level
    build_program twin $level --quipu=none
    run_program counted data$level 50
    "$quipu" export --to=callgrind -o ours.out data$level
    valgrind --quiet --tool=callgrind --dump-instr=yes --skip-plt=no --callgrind-out-file=theirs.out ./twin 50 \
        >/dev/null
    own_functions ours.out >ours.txt
    own_functions theirs.out >theirs.txt
    [ -s theirs.txt ] || fail "valgrind's own profile names no function of the program"
    cmp -s ours.txt theirs.txt ||
        fail "counts differ from valgrind's at $level: $(diff ours.txt theirs.txt)"

    python3 - ours.out <<'END' || fail "the file does not hold together at $level"
import re, sys
costs = summary = totals = jumps = 0
skip = False  # the line behind jump= and jcnd= is a position
for line in open(sys.argv[1]):
    if m := re.fullmatch(r"(summary|totals): (\d+)\n", line):
        assert m[1] == "totals" or not costs, "summary must stand in front of the costs"
        summary, totals = (int(m[2]), totals) if m[1] == "summary" else (summary, int(m[2]))
    elif m := re.match(r"(?:jump=(\d+)|jcnd=(\d+)/(\d+)) 0x[0-9a-f]+ \d+\n", line):
        assert m[1] or int(m[2]) <= int(m[3]), line
        skip, jumps = True, jumps + 1
    elif line.startswith("0x"):
        if not skip:
            costs += int(line.split()[2])
        skip = False
assert costs == summary == totals > 0, (costs, summary, totals)
assert jumps > 5, jumps
END

    "$quipu" merge -o merged.quipu data$level data$level
    "$quipu" export --to=callgrind -o merged.out merged.quipu
    own_functions merged.out | awk '{ print $1 / 2, $2 }' >merged.txt
    cmp -s ours.txt merged.txt || fail "the export of a run added to itself is not twice the run's"
done

#!/bin/bash
# quipu reuse: the misses by size are those of 'quipu cache' with a fully associative cache of each
# size; distances and working sets are those of a slow and simple model, also where references are on
# two lines and when there are so many lines that uses are renumbered.
# timeout: 120
. "$(dirname "$0")/lib.bash"
needs python3

# A lackey file of 24000 references: scans, random ones, lines that are used again soon.
cat >make.py <<'END'
import random
random.seed(7)
print("==1== Lackey, an example Valgrind tool")
for i in range(24000):
    print(f"I  {0x401000 + i % 50 * 3:08x},3")
    region, kind = i // 1500 % 4, random.choice("LLLSM")
    if region == 0:
        address = 0x10000 + i * 24
    elif region == 1:
        address = 0x10000 + random.randrange(1 << 19)
    else:
        address = 0x80000 + int(random.expovariate(1 / 3000))
    print(f" {kind} {address:08x},{random.choice((1, 2, 4, 8, 8, 16, 32))}")
print("a line of the program's own")
END
python3 make.py >lackey.txt

cat >model.py <<'END'
"""The answers of a list of lines, the most recent one first."""
import collections, csv, sys
line, window = int(sys.argv[1]), int(sys.argv[2])
stack, distances, windows, count = [], collections.Counter(), collections.defaultdict(set), 0
for text in open("lackey.txt"):
    if text[:3] not in (" L ", " S ", " M "):
        continue
    address, size = text[3:].split(",")
    address, size = int(address, 16), min(int(size), line)
    farthest = 0
    for number in range(address // line, (address + size - 1) // line + 1):
        distance = stack.index(number) if number in stack else float("inf")
        if number in stack:
            stack.remove(number)
        stack.insert(0, number)
        windows[count // window].add(number)
        farthest = max(farthest, distance)
    distances[farthest] += 1
    count += 1
got = {row["distance"]: int(row["references"]) for row in csv.DictReader(open("distances.csv"))}
wanted = {"" if d == float("inf") else str(d): n for d, n in distances.items()}
assert got == wanted, "distances differ"
misses = count
for row in csv.DictReader(open("distances.csv")):
    misses -= int(row["references"])
    assert not row["distance"] or int(row["misses"]) == misses, row
rows = list(csv.DictReader(open("windows.csv")))
assert [int(row["lines"]) for row in rows] == [len(windows[w]) for w in sorted(windows)], "windows differ"
assert sum(int(row["references"]) for row in rows) == count, rows
END

for line in 64 16; do
    for view in distance window; do
        "$quipu" reuse --from=lackey --by=$view --line=$line --window=3000 --format=csv lackey.txt \
            -o ${view}s.csv
    done
    python3 model.py $line 3000 || fail "lines of $line bytes: not what the model says"
done

"$quipu" reuse --from=lackey --format=csv <lackey.txt | tr -d '\r' >sizes.csv
[ "$(wc -l <sizes.csv)" -gt 10 ] || fail "few sizes: $(cat sizes.csv)"
while IFS=, read -r bytes lines _ misses _; do
    [ "$bytes" != bytes ] || continue
    got=$("$quipu" cache --from=lackey --format=csv --l1d="$bytes,full,64" --llc=none lackey.txt |
        tr -d '\r' | awk -F, '$1 == "read" || $1 == "write" { sum += $3 } END { print sum }')
    [ "$got" = "$misses" ] ||
        fail "$lines lines: 'quipu cache' misses $got, 'quipu reuse' says $misses"
done <sizes.csv

# The picture is XML with a line in each of its two plots.
"$quipu" reuse --from=lackey --to=svg --window=5000 -o picture.svg lackey.txt
python3 - <<'END' || fail "not a picture: $(head -c 500 picture.svg)"
import xml.etree.ElementTree as tree
lines = tree.parse("picture.svg").getroot().findall("{http://www.w3.org/2000/svg}polyline")
assert [len(line.get("points").split()) > 2 for line in lines] == [True, True]
END

#!/bin/bash
# Inclusive and exclusive levels: the misses of each kind and level are those of a slow and simple model.
# timeout: 60
. "$(dirname "$0")/lib.bash"
needs python3

cat >make.py <<'END'
import random
random.seed(11)
for i in range(20000):
    print(f"I  {0x4000 + random.randrange(1 << 12):x},{random.randrange(1, 12)}")
    # data and code share lines, so that both first caches lose the same one
    print(f" {random.choice('LSM')} {0x4000 + int(random.expovariate(1 / 3000)):x},{random.choice((1, 4, 8, 32))}")
END
python3 make.py >lackey.txt

cat >model.py <<'END'
import csv, sys
rule, with_second = sys.argv[1], sys.argv[2] != "none"


class Cache:
    def __init__(self, size, ways):
        self.sets, self.ways = [[] for _ in range(size // ways // 64)], ways

    def remove(self, line):
        lines = self.sets[line % len(self.sets)]
        found = line in lines
        if found:
            lines.remove(line)
        return found

    def use(self, line):
        """Whether it was there, and the line that it replaced."""
        found = self.remove(line)
        lines = self.sets[line % len(self.sets)]
        lines.insert(0, line)
        return found, lines.pop() if len(lines) > self.ways else None


code, data, second, last = Cache(1024, 2), Cache(1024, 4), Cache(2048, 4), Cache(4096, 4)
counts = {kind: [0, 0, 0, 0] for kind in ("fetch", "read", "write")}
for text in open("lackey.txt"):
    kind = {"I": "fetch", "L": "read", "M": "read", "S": "write"}[text[:3].strip()]
    address, size = (int(word, base) for word, base in zip(text[3:].split(","), (16, 10)))
    missed = {0}
    for line in range(address // 64, (address + size - 1) // 64 + 1):
        found, lost = (code if kind == "fetch" else data).use(line)
        if found:
            continue
        missed.add(1)
        if with_second:
            found, lost = second.use(line)
            if found:
                continue
            missed.add(2)
        if rule == "exclusive":
            if not last.remove(line):
                missed.add(3)
            if lost is not None:
                last.use(lost)
            continue
        found, lost = last.use(line)
        if not found:
            missed.add(3)
            for cache in (code, data, second) if rule == "inclusive" and lost is not None else ():
                cache.remove(lost)
    for level in missed:
        counts[kind][level] += 1
for row in csv.DictReader(sys.stdin):
    if row["kind"] in counts:
        wanted = counts[row["kind"]]
        got = [int(row[key] or 0) for key in ("references", "l1_misses", "l2_misses", "llc_misses")]
        assert got == wanted, (rule, sys.argv[2], row["kind"], got, wanted)
END
for rule in inclusive exclusive; do
    for second in none 2K,4,64; do
        "$quipu" cache --from=lackey --format=csv --levels=$rule --l1i=1K,2,64 --l1d=1K,4,64 --l2=$second \
            --llc=4K,4,64 lackey.txt >$rule.csv
        python3 model.py $rule $second <$rule.csv || fail "$rule levels, L2 $second: not what the model says"
    done
done
! cmp -s inclusive.csv exclusive.csv || fail "both rules have the same misses"
expect_error 1 "'--levels=inclusive'" "$quipu" cache --from=lackey --levels=inclusive --llc=none lackey.txt
expect_error 1 "one size" "$quipu" cache --from=lackey --levels=exclusive --l1i=1K,2,32 lackey.txt
expect_error 1 "did you mean 'inclusive'" "$quipu" cache --from=lackey --levels=inclusiv lackey.txt

#!/bin/bash
# gcov_json.sh: the export has the members of gcov's own file, geninfo reads it in gcov's place, and
# it tells the same as the lcov export.
. "$(dirname "$0")/lib.bash"
needs geninfo gcov python3

# The members of every object, one path a line.
members() {
    python3 -c '
import gzip, json, sys
def walk(value, path):
    if isinstance(value, dict):
        for key in value:
            yield f"{path}.{key}: {type(value[key]).__name__}"
            yield from walk(value[key], f"{path}.{key}")
    elif isinstance(value, list):
        for item in value:
            yield from walk(item, path + "[]")
print("\n".join(sorted(set(walk(json.load(gzip.open(sys.argv[1])), "")))))' "$1"
}

for level in -O0 -O2; do
    build_program counted $level
    run_program counted data$level 50
    "$quipu" export --to=gcov-json -o ours.gcov.json.gz data$level
    "$quipu" export --to=gcov-json data$level >ours.json
    zcat ours.gcov.json.gz | cmp - ours.json || fail "compressed and plain output differ"
    "$quipu" export --to=lcov -o ours.info data$level
    python3 "$here/coverage.py" gcov-json ours.json lcov ours.info >differences.txt ||
        fail "gcov-json and lcov differ at $level: $(cat differences.txt)"
done

gcc -O0 --coverage -c "$program/main.c"
gcc --coverage -c "$program/table.c"
gcc --coverage main.o table.o -o covered
./covered 50 >/dev/null
gcov -b --json-format main.gcda >/dev/null
members main.gcov.json.gz >theirs.txt
members ours.gcov.json.gz >ours.txt
# gcc 14 tells more, in version 2 of the format; what is written is version 1, which all can read.
zgrep -q '"format_version": *"1"' main.gcov.json.gz ||
    sed -i -E '/block_ids?: |prime_path|[.](calls|conditions)(\[\][^:]*)?: /d' theirs.txt
cmp -s theirs.txt ours.txt || fail "members are not gcov's: $(diff theirs.txt ours.txt)"

# geninfo runs what it takes for gcov in a directory of its own and collects what that leaves.
cat >gcov-in-place <<END
#!/bin/sh
case \$1 in
-v | --version) exec gcov --version ;;
--help) exec gcov --help ;;
esac
cp "$work/ours.gcov.json.gz" .
END
chmod +x gcov-in-place
mkdir gathered
cp main.gcda main.gcno gathered
branches='--rc lcov_branch_coverage=1'
grep -q 'version 1' < <(geninfo --version) || branches='--rc branch_coverage=1'
# shellcheck disable=SC2086
geninfo $branches --no-recursion --gcov-tool "$work/gcov-in-place" \
    -o geninfo.info gathered >geninfo.txt 2>&1 || fail "geninfo refuses the export: $(cat geninfo.txt)"
lines=$(grep -c '^DA:' geninfo.info) || fail "geninfo read no lines: $(cat geninfo.txt)"
[ "$lines" -ge 20 ] || fail "geninfo read $lines lines only"
grep -qE '^FNDA:1,main$|^FNA:[0-9]+,1,main$' geninfo.info || fail "geninfo did not read the call of 'main'"

#!/bin/bash
# cobertura.sh: the XML is valid by the format's document type, its totals are right, and it tells
# the same as the lcov export; also for C++ names, which need escapes.  diff-cover reads it.
. "$(dirname "$0")/lib.bash"
needs xmllint python3 diff-cover git

check_file() {
    xmllint --noout --nonet --dtdvalid "$here/coverage-04.dtd" "$1" 2>xmllint.txt ||
        fail "$1 is not valid: $(cat xmllint.txt)"
}

for level in -O0 -O2; do
    build_program counted $level
    run_program counted data$level 50
    "$quipu" export --to=cobertura -o ours.xml data$level
    check_file ours.xml
    "$quipu" export --to=lcov -o ours.info data$level
    python3 "$here/coverage.py" cobertura ours.xml lcov ours.info >differences.txt ||
        fail "cobertura and lcov differ at $level: $(cat differences.txt)"
done

"$quipu" export --to=cobertura --source-root="$here" -o rooted.xml data-O2
check_file rooted.xml
grep -qF "<source>$here</source>" rooted.xml || fail "the source root is not the one asked for"
grep -qF 'filename="program/main.c"' rooted.xml || fail "names are not relative to the source root"
expect_error 1 "no source file of the program lies below it" \
    "$quipu" export --to=cobertura --source-root="$work" data-O2
expect_error 1 "No such file" "$quipu" export --to=cobertura --source-root="$work/gone" data-O2

mkdir 'a & b'
cat >'a & b/<t>.cc' <<'END'
template <typename T> struct box { T value; bool less(const T &other) { return value < other; } };
template <typename T> bool test(T a, T b) { return box<T>{a}.less(b); }
int main(int argc, char **) { return test(argc, 1) + test<long>(argc, 1) + test<char>('a', 'a'); }
END
"$quipu" cc --quipu-compiler=g++ -g -O0 'a & b/<t>.cc' -o templates
run_program templates data-cc
"$quipu" export --to=cobertura -o templates.xml data-cc
check_file templates.xml
grep -qF '<source>'"$work"'/a &amp; b</source>' templates.xml ||
    fail "the source root is not the directory of the only file: $(grep '<source>' templates.xml)"
grep -qF 'filename="&lt;t&gt;.cc"' templates.xml || fail "the file name is not escaped"
python3 - templates.xml <<'END' || fail "instances of a template are not added up"
import sys, xml.etree.ElementTree
root = xml.etree.ElementTree.parse(sys.argv[1]).getroot()
[unit] = [unit for unit in root.iter("class") if unit.get("filename").endswith("<t>.cc")]
hits = {line.get("number"): line.get("hits") for line in unit.find("lines")}
assert hits == {"1": "3", "2": "3", "3": "1"}, hits
END

# diff-cover looks the lines up that a branch has changed: here all, with the lcov export's counts.
cp -r "$program" changed
cd changed || exit 1
git=(git -c user.name=test -c user.email=test@localhost -c commit.gpgsign=false)
git init -q -b base .
"${git[@]}" commit -q --allow-empty -m base
git checkout -q -b change
git add .
"${git[@]}" commit -q -m change
program=$PWD build_program ../changed.out -O0
run_program ../changed.out ../data-changed 50
"$quipu" export --to=cobertura --source-root=. -o ../changed.xml ../data-changed
"$quipu" export --to=lcov -o ../changed.info ../data-changed
diff-cover ../changed.xml --compare-branch=base --json-report ../changed.json >../diff-cover.txt 2>&1 ||
    fail "diff-cover refuses the export: $(cat ../diff-cover.txt)"
cd ..
awk -F'[:,]' '/^SF:/ { n = split($2, path, "/"); file = path[n] }
              /^DA:/ { lines++ } /^DA:.*,0$/ { print file, $2 } END { print lines, "lines" }' \
    changed.info | sort >ours.txt
python3 -c '
import json, sys
found = json.load(open(sys.argv[1]))
for name, file in found["src_stats"].items():
    for line in file["violation_lines"]:
        print(name, line)
print(found["total_num_lines"], "lines")' changed.json | sort >theirs.txt
cmp -s ours.txt theirs.txt || fail "diff-cover reads other lines: $(diff ours.txt theirs.txt)"

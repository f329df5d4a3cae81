#!/bin/bash
# names.sh: text shows names of C++ functions without long arguments of templates, whole, or mangled;
# JSON and CSV of every view have the symbol and the whole name. On a narrow terminal the place of a
# function loses the directories of its path first.
. "$(dirname "$0")/lib.bash"
needs python3

mkdir -p a/rather/long/path/of/directories
cat >a/rather/long/path/of/directories/program.cc <<'END'
#include <map>
#include <string>
template <class Key, class Value> struct table {
    std::map<Key, Value> rows;
    __attribute__((noinline)) void add(const Key &key, const Value &value) { rows[key] = value; }
};
int main() {
    table<std::string, std::map<std::string, int>> all;
    all.add("a", {{"b", 1}});
    return all.rows.size() != 1;
}
END
"$quipu" c++ --quipu=count,calls -O1 -g a/rather/long/path/of/directories/program.cc -o program
QUIPU_DATA=before ./program
QUIPU_DATA=after ./program
symbol=$("$quipu" report --format=csv before | grep -o '^_ZN5table.*3addE[^,]*')
demangled=$(c++filt "$symbol")
[ "$demangled" != "$symbol" ] || fail "no demangled name of '$symbol'"

# shows WORDS NAME: the text of that command has NAME in one of its lines
shows() {
    # shellcheck disable=SC2086
    "$quipu" $1 >shown.txt || fail "$1"
    grep -qF "$2" shown.txt || fail "$1: no '$2': $(cat shown.txt)"
}
short="table<...>::add(...)"
for words in "report before" "report --by=block before" "report --by=instruction before" \
    "report --by=callsite before" "diff --all before after" "diff --all --by=callsite before after" \
    "annotate --data=before --asm"; do
    shows "$words" " $short"
    shows "$words --names=short" " $short"
    shows "$words --names=full" "$demangled"
    shows "$words --names=mangled" "$symbol"
done
# Instructions call it by the same name.
shows "annotate --data=before --asm" "call $short"
shows "annotate --data=before --asm --names=full" "call $demangled"
shows "annotate --data=before --asm --names=mangled" "call $symbol"
COLUMNS=300 shows "report --by=instruction before" "call $short"
shows "annotate --data=before --branches" "branch at "
for words in "annotate --data=before --asm" "annotate --data=before --branches"; do
    # shellcheck disable=SC2086
    "$quipu" $words >shown.txt
    awk 'length($0) > 300' shown.txt >long.txt
    [ ! -s long.txt ] || fail "$words: lines of more than 300 bytes: $(cat long.txt)"
done
COLUMNS=100 shows "report before" " $short (.../program.cc:5)"
if "$quipu" report --names=long before 2>messages; then
    fail "--names=long is accepted"
fi
grep -q "'--names=long'.*short, full or mangled" messages || fail "$(cat messages)"

for view in function block instruction callsite; do
    for format in json csv; do
        "$quipu" report --by=$view --format=$format --names=short before >$view.$format
    done
    python3 - $view "$symbol" "$demangled" <<'END' || fail "$view: no names"
import csv, json, sys
view, symbol, demangled = sys.argv[1:]
keys = {"function": [("name", "demangled")], "block": [("function", "demangled")],
        "instruction": [("function", "demangled")],
        "callsite": [("caller", "caller_demangled"), ("callee", "callee_demangled")]}[view]
for rows in json.load(open(view + ".json"))[view + "s"], list(csv.DictReader(open(view + ".csv"))):
    for name, whole in keys:
        found = [row.get(whole) for row in rows if row.get(name) == symbol]
        assert found and set(found) == {demangled}, (name, found)
END
done

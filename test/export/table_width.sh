#!/bin/bash
# table_width.sh: tables fit the terminal, or COLUMNS: text loses its middle, numbers lose nothing,
# and characters stay whole. In a pipe, and with --wide, nothing is cut.
. "$(dirname "$0")/lib.bash"
needs python3 script

unset COLUMNS
name=a_function_with_a_very_long_name_that_says_everything_that_it_does_to_its_arguments_one_by_one
cat >"ein_ziemlich_länger_Name_für_eine_Quelldatei_äöü.c" <<END
__attribute__((noinline)) int $name(int n) { return n * 3; }
int main(void) { return $name(1234) != 3702; }
END
"$quipu" cc --quipu=count,calls -O1 -g ein*.c -o program
./program
"$quipu" report >whole.txt
grep -q "$name (ein_.*äöü.c:1)$" whole.txt || fail "a pipe gets less: $(cat whole.txt)"
for width in 80 100 132; do
    for view in function line callsite file; do
        COLUMNS=$width "$quipu" report --by=$view >narrow.txt
        script -qec "stty cols $width; '$quipu' report --by=$view --color=never" /dev/null >terminal.txt
        tr -d '\r' <terminal.txt | cmp - narrow.txt || fail "$view, $width: a terminal gets something else"
        COLUMNS=$width "$quipu" report --by=$view --wide >wide.txt
        "$quipu" report --by=$view | cmp - wide.txt || fail "$view: --wide is something else"
        python3 - "$width" narrow.txt wide.txt <<'END' || fail "$view, $width: $(cat narrow.txt)"
import re, sys
width = int(sys.argv[1])
narrow = open(sys.argv[2], "rb").read().decode().splitlines()[2:]
wide = open(sys.argv[3], "rb").read().decode().splitlines()[2:]
assert len(narrow) == len(wide)
for few, all in zip(narrow, wide):
    assert len(few.encode()) <= width, few
    numbers = [re.findall(r"(?<!\S)\d[\d.]*%?(?!\S)", line) for line in (few, all)]
    assert numbers[0] == numbers[1], numbers
assert any("..." in line for line in narrow) or max(len(l.encode()) for l in wide) <= width
END
    done
done

# The heading fits, too; and a name wins over its place.
# shellcheck disable=SC2046
"$quipu" run -o long -- ./program $(seq 1 100) >/dev/null
COLUMNS=80 "$quipu" report long >narrow.txt
head -n 1 narrow.txt >heading.txt
[ "$(wc -c <heading.txt)" -le 81 ] && grep -q '^\./program .*\.\.\..*: 1 process, .* instructions executed$' heading.txt ||
    fail "heading: $(cat heading.txt)"
grep -q " 1 2 3 .* 99 100: 1 process" < <("$quipu" report long | head -n 1) || fail "a pipe gets less of the heading"
COLUMNS=80 "$quipu" report --by=process long | awk 'length > 80' >wide.txt
[ ! -s wide.txt ] || fail "processes: $(cat wide.txt)"
"$quipu" run -o other -- ./program >/dev/null
COLUMNS=70 "$quipu" diff --all long other >narrow.txt
grep -q ' main$' narrow.txt || fail "diff: $(cat narrow.txt)"

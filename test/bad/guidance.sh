#!/bin/bash
# What a user asks in a wrong or unusual way is answered: a pattern that matches nothing, help of a
# command, reports and facts of builds that count no functions.
. "$(dirname "$0")/lib.bash"
program='int main(void) { return 0; }'
make_program counted -g <<<"$program"
ends 0 ./counted
for view in function file line module process; do
    refuses "'--function=mian'" -- quipu report --by=$view --function=mian
done
refuses "'--file=none.c'" "--by=file" -- quipu report --file=none.c
refuses "'--module=none'" "--by=module" -- quipu report --module=none
ends 0 quipu report --function=m*n
ends 0 quipu report --function=main --never-executed
refuses "'quipu.data' is no source file" "--data=quipu.data" -- quipu annotate quipu.data
data=$(echo quipu.data/*.quipu)
refuses "'$data' is no source file" -- quipu annotate "$data"
ends 0 quipu help report
grep -q '^usage: quipu report' output || fail "no help of report: $(cat output)"
refuses "'none': no such command" -- quipu help none
ends 0 quipu-cc --help
grep -q -- '--quipu=event' output || fail "no options of quipu: $(cat output)"
grep -q -- '-save-temps' output || fail "no options of the compiler: $(cat output)"
for mode in event calls moment watch; do
    make_program $mode --quipu=$mode <<<"$program"
    ends 0 quipu info $mode
    grep -qx '  instrumented  1 unit, with no counts of functions' output ||
        fail "$mode: $(cat output)"
    grep -q "^    quipu [0-9.]*, \(event,\)\?$mode,placement=tree, GCC: " output ||
        fail "the mode is not told: $(cat output)"
done

# Units that were made alike are told together.
for unit in one two three; do
    echo "int $unit(void) { return 0; }" >$unit.c
done
quipu cc -c one.c two.c && quipu cc --quipu-placement=block -c three.c &&
    quipu cc one.o two.o three.o -x c - -o several <<<"$program" || fail "no program of several units"
ends 0 quipu info several
grep -qx '      three.c' < <(grep -A 1 'placement=block' output) || fail "three.c: $(cat output)"
grep -qx '      .*one.c two.c.*' < <(grep -A 1 'placement=tree' output) || fail "one.c, two.c: $(cat output)"
rm -rf quipu.data
make_program called --quipu=calls -g <<<"$program"
QUIPU_DATA=called.data ends 0 ./called
ends 0 quipu report called.data
grep -q 'callee  *caller' output || fail "no call sites: $(cat output)"
ends 0 quipu info called.data
if grep ' executed' output; then
    fail "what is not counted by function looks never executed"
fi
QUIPU_DATA=counted.data ends 0 ./counted
ends 0 quipu info counted.data
[[ $(grep -c '[1-9] .*executed' output) -eq 2 ]] || fail "no instructions: $(cat output)"

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
done
rm -rf quipu.data
make_program called --quipu=calls -g <<<"$program"
QUIPU_DATA=called.data ends 0 ./called
ends 0 quipu report called.data
grep -q 'callee  *caller' output || fail "no call sites: $(cat output)"

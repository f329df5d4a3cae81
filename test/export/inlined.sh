#!/bin/bash
# inlined.sh: a function that was never called, because its callers contain copies of it that ran, is
# called inlined; one that never ran at all is not.
. "$(dirname "$0")/lib.bash"
. "$root/test/browser.sh.inc"
needs python3

cat >program.c <<'END'
int helper(int x) {
    int s = 0;
    for (int i = 0; i < x; i++)
        s += i ^ x;
    return s;
}
int never(int x) {
    return helper(x) + 3;
}
int main(int argc, char **argv) {
    int sum = argc + (argv == 0);
    for (int i = 0; i < 10; i++)
        sum += helper(i + argc);
    return sum < 0;
}
END
for options in "-O2" "-O3 -g" "-O2 -g -fno-inline" "-O2 -g"; do
    # shellcheck disable=SC2086
    "$quipu" cc --quipu=count $options program.c -o program
    data="data of ${options#-}"
    QUIPU_DATA=$data ./program
    "$quipu" report "$data" >report.txt
    case $options in
    "-O2 -g" | "-O3 -g") grep -q ' helper, inlined (program.c:1)$' report.txt || fail "$options: $(cat report.txt)" ;;
    *) ! grep -q inlined report.txt || fail "$options: $(cat report.txt)" ;;
    esac
    ! grep -q 'never, inlined' report.txt || fail "$options: what never ran is inlined: $(cat report.txt)"
done
"$quipu" export --to=html -o page.html "data of O2 -g"
page_data page.html | python3 -c '
import json, sys
assert {f[0]: f[9] for f in json.load(sys.stdin)["functions"]} == {"main": 0, "helper": 1, "never": 0}' || fail "the page"
has chromium || exit 0
shows page.html functions inlined never

#!/bin/bash
# The debug information of calls holds: each address that it calls a return address has a call right in
# front of it, and what a location list holds for a value does not go beyond the call that ends it.
# Debuggers show the callers' arguments by both.
. "$(dirname "$0")/../bad/lib.bash"
cat >program.c <<'EOT'
#include <stdio.h>
#include <stdlib.h>
int depth;
__attribute__((noinline)) int inner(int *place, const char *text) { return *place + puts(text); }
__attribute__((noinline)) int outer(int *place, const char *text, int count) {
    int result = inner(place, text);
    if (count > 3)
        result += inner(&depth, "more");
    for (int i = 0; i < count; i++)
        result += inner(place, text) * i;
    return result * 2;
}
__attribute__((noinline)) void end(const char *why, int status) {
    puts(why);
    exit(status);
}
int main(int count, char **arguments) {
    if (outer(&count, arguments[0], count + 4) == 7)
        end("seven", 1);
    end("done", 0);
}
EOT
# Tells which return addresses of the debug information have no call right in front of them.
cat >compare.py <<'EOT'
import re, subprocess, sys
def text(*command): return subprocess.run(command, check=True, capture_output=True, text=True).stdout
returns = set()
for line in text('objdump', '-dw', sys.argv[1]).split('\n'):
    found = re.match(r' *([0-9a-f]+):\t((?:[0-9a-f]{2} )+) *\t(?:bnd )?call', line)
    if found:
        returns.add(int(found[1], 16) + len(found[2].split()))
RETURN = r'call_return_pc *:.*0x(\w+)$|\(DW_TAG_GNU_call_site\)\n(?:.*DW_AT_abstract_origin.*\n)?.*low_pc *: 0x(\w+)'
told = {int(''.join(groups), 16) for groups in re.findall(RETURN, text('readelf', '--debug-dump=info', sys.argv[1]), re.M)}
print(len(told), *(hex(address) for address in sorted(told - returns)))
EOT
# What gdb shows of the callers, without numbers.
callers() {
    gdb -nx -batch -ex 'break puts' -ex run -ex backtrace program 2>&1 </dev/null |
        sed -n 's/^#[1-9].* in \(.*)\).*/\1/p' | sed 's/0x[0-9a-f]*/X/g'
}
for compiler in cc clang; do
    command -v $compiler >/dev/null || continue
    for flags in '-O2 -g' '-O2 -g -fPIC' '-O1 -gdwarf-4 -fno-asynchronous-unwind-tables'; do
        for mode in none count count,event,moment,calls watch; do
            # shellcheck disable=SC2086 # the flags are words
            ends 0 quipu-$compiler --quipu=$mode $flags program.c -o program
            read -r told wrong < <(python3 compare.py program)
            [[ $told -ge 4 ]] || fail "$compiler $flags, $mode: only $told return addresses are told"
            [[ -z $wrong ]] || fail "$compiler $flags, $mode: of $told return addresses no call is in front of $wrong"
            command -v gdb >/dev/null || continue
            callers >"callers.$mode"
            grep -q '^outer' "callers.$mode" || fail "gdb shows no caller: $(cat "callers.$mode")"
            diff callers.none "callers.$mode" >differing ||
                fail "$compiler $flags, $mode: gdb shows other callers: $(cat differing)"
        done
    done
done

#!/bin/bash
# The first frame of a backtrace has the line of the hit, also where a call spans several lines: what it
# returns to is the next line's.
. "$(dirname "$0")/lib.bash"
cat >program.c <<'EOT2'
#include <stdio.h>
char name[16];
static __attribute__((noinline)) void fill(int i) {
    sprintf(name,
            "c%d",
            i);
}
int main(int argc, char **argv) {
    (void)argv;
    for (int i = 0; i < 3; i++)
        fill(i +
             argc);
    return name[0] == 'x';
}
EOT2
for level in -O0 -O1 -O2; do
    "$quipu" cc --quipu=watch -g $level program.c -o program || fail "cannot build"
    watches 0 --backtrace -e name -- ./program
    [[ $(grep -cE '^ +[0-9]+:  name' hits) -eq 3 ]] || fail "$level: not three hits: $(cat hits)"
    python3 - hits <<'END' || fail "$level: $(cat hits)"
import re, sys
line = None
for text in open(sys.argv[1]):
    if hit := re.search(r'^ +\d+: .* program\.c:(\d+)', text):
        line = hit[1]
    elif frame := re.search(r'^ +#0 .* program\.c:(\d+)', text):
        if frame[1] != line:
            sys.exit(1)
        line = None
sys.exit(line is not None)
END
done
leaves_nothing

#!/bin/bash
# gdb's breakpoints that stand in a program before its countdown's tests are put in, on the very
# additions that they are put over, are hit, and the program does what it does.
. "$(dirname "$0")/../bad/lib.bash"
needs gdb
cat >program.c <<'END'
#include <quipu.h>
#include <stdio.h>
static int fired;
static void fire(const struct quipu_moment *moment, void *argument) {
    fired += moment->ticks > 0 && !argument;
}
__attribute__((noipa)) unsigned fib(unsigned n) {
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}
int main(void) {
    int error = quipu_after(100, fire, 0);
    unsigned value = fib(10);
    printf("%d %u %d\n", error, value, fired);
    return 0;
}
END
quipu cc --quipu=moment -no-pie -O2 -g "-I$(dirname "$quipu")/../include" program.c -o program 2>messages ||
    fail "cannot build: $(cat messages)"
# Every instruction that an addition's table row names.
cat >places.py <<'END'
import struct, subprocess
sections = subprocess.run(['readelf', '-SW', 'program'], capture_output=True, text=True).stdout
words = next(line.split('.quipu.tests', 1)[1] for line in sections.split('\n') if '.quipu.tests' in line)
address, offset, size = (int(word, 16) for word in words.split()[1:4])
with open('program', 'rb') as file:
    file.seek(offset)
    rows = file.read(size)
for row in range(0, size, 12):
    print(f'tbreak *{address + row + struct.unpack_from("<i", rows, row)[0]:#x}')
END
python3 places.py >places
count=$(wc -l <places)
((count > 2)) || fail "only $count additions"
{
    echo 'set confirm off'
    cat places
    echo run
    for ((i = 0; i < count; i++)); do echo continue; done
} >commands
gdb -q -batch -x commands ./program >output 2>messages </dev/null || :
grep -q '^0 55 1$' output || fail "the program did not do its work: $(cat output messages)"
hits=$(grep -c '^Temporary breakpoint .*, ' output)
((hits > 2)) || fail "only $hits of $count breakpoints were hit: $(cat output)"

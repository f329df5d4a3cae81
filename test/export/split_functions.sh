#!/bin/bash
# gcc cuts a part off a function: work.part.0, whose debug information has the function's line. Its
# calls are some of the function's, so the line is counted once; also where the function itself is
# inlined, and only its part is there.
. "$(dirname "$0")/lib.bash"
cat >program.c <<'EOT'
#include <stdio.h>
volatile int sink;
BINDING void
work(int *p, int n)
{
  if (n > 0) {
    int a[64];
    for (int i = 0; i < 64; i++) { a[i] = p[i % n] * 3; sink = a[i]; }
    for (int i = 0; i < 64; i++) { sink = a[63 - i]; printf(i == 80 ? "x" : ""); }
  }
}
void other(int *p, int n) { work(p, n); sink = 1; work(p, n + 1); sink = 3; }
#ifdef WHOLE
void (*volatile f)(int *, int) = work;
#else
__attribute__((noipa)) void f(int *p, int n) { work(p, n); }
#endif
int main(void) { int x[4] = {1,2,3,4}; for (int i = 0; i < 10; i++) f(x, i & 3); other(x,3); return 0; }
EOT
# lines_of_work EXPECTED: the counts of its first line in the formats of coverage.
lines_of_work() {
    $quipu export --to=lcov -o lcov || fail "lcov"
    $quipu export --to=cobertura -o cobertura || fail "cobertura"
    $quipu export --to=gcov-json -o gcov.json.gz || fail "gcov-json"
    python3 - "$1" <<'END' || fail "$1"
import gzip, json, re, sys
expected = int(sys.argv[1])
lcov = [int(n) for n in re.findall(r'^DA:4,(\d+)$', open('lcov').read(), re.M)]
classes = re.sub(r'(?s)<methods>.*?</methods>', '', open('cobertura').read())
cobertura = [int(n) for n in re.findall(r'<line number="4" hits="(\d+)"', classes)]
document = json.load(gzip.open('gcov.json.gz'))
gcov = sum(line['count'] for file in document['files'] for line in file['lines'] if line['line_number'] == 4)
if (lcov, cobertura, gcov) != ([expected], [expected], expected):
    sys.exit(f'line 4, to be {expected}: lcov {lcov}, cobertura {cobertura}, gcov {gcov}')
END
}
for binding in "-DBINDING= -DWHOLE" -DBINDING=static; do
    rm -rf quipu.data
    # shellcheck disable=SC2086
    "$quipu" cc --quipu=count -O2 -g $binding program.c -o program || fail "cannot build"
    nm program >symbols
    if ! grep -q ' work\.part' symbols; then
        echo "skipped: gcc cuts nothing off 'work'"
        exit 77
    fi
    ./program || fail "program"
    # Ten calls by f, three of them with 0, and two by other, of which inlining has left nothing at that line.
    expected=9
    [[ $binding == *WHOLE ]] && expected=10
    lines_of_work $expected
done

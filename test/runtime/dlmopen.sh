#!/bin/bash
# Objects in a namespace of their own (dlmopen) count in the data file of their process, with the
# executable's counts beside theirs, and also where the executable is not instrumented.
. "$(dirname "$0")/../bad/lib.bash"
cat >plugin.c <<'EOT'
static int value;
int step(void) { return ++value; }
EOT
cat >main.c <<'EOT'
#define _GNU_SOURCE
#include <dlfcn.h>
int main(void) {
    int sum = 0;
    for (int i = 0; i < 3; i++) {
        void *handle = dlmopen(LM_ID_NEWLM, "./plugin.so", RTLD_NOW);
        if (!handle)
            return 1;
        int (*step)(void) = (int (*)(void))dlsym(handle, "step");
        for (int j = 0; j < 10; j++)
            sum += step();
        if (i)
            dlclose(handle);
    }
    return sum != 165;
}
EOT
# calls_of FUNCTION: how often it was called, by the report.
calls_of() {
    quipu report --format=csv --function="$1" data >rows || fail "no report of '$1'"
    python3 -c 'import csv; print([row["calls"] for row in csv.DictReader(open("rows"))][0])'
}
for mode in count count,event,moment,calls; do
    quipu cc --quipu=$mode -g -O1 -fPIC -shared plugin.c -o plugin.so || fail "$mode: no plugin.so"
    for main in $mode none; do
        quipu cc --quipu=$main -g -O1 main.c -o program || fail "$main: cannot build"
        rm -rf data
        QUIPU_DATA=data ends 0 ./program
        [[ ! -s messages ]] || fail "$mode, $main: $(cat messages)"
        [[ $(calls_of step) == 30 ]] || fail "$mode, $main: step: $(cat rows)"
        [[ $main == none || $(calls_of main) == 1 ]] || fail "$mode: main: $(cat rows)"
    done
done

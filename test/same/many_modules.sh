#!/bin/bash
# Shared objects that a program loads while it runs, and many: each takes some bytes of what the C
# library keeps for their thread-local words.  There is room for as many as doc/limits.md says, and with
# the tunable that it names for more.  All of them have a part in the trees of calls.
set -uo pipefail
unset QUIPU_DATA GLIBC_TUNABLES

fail() {
    printf '%s\n' "$(basename "$0"): $*"
    exit 1
}

cat >main.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

/* main COUNT FILE: loads so many copies of FILE, and calls each. */
int main(int argc, char **argv) {
    int sum = 0;
    for (int i = 0; i < atoi(argv[1]); i++) {
        char name[100];
        snprintf(name, sizeof name, "%s.%d", argv[argc - 1], i);
        void *module = dlopen(name, RTLD_NOW);
        if (!module) {
            puts(dlerror());
            return 1;
        }
        int (*next)(int) = (int (*)(int))dlsym(module, "next");
        sum = next(sum);
    }
    printf("%d\n", sum);
    return 0;
}
C
cat >module.c <<'C'
int calls;
int next(int number);
void scale(double *to, const double *from, int count);
void scale(double *to, const double *from, int count) { /* a loop that has a copy without checks */
    for (int i = 0; i < count; i++)
        to[i] = 2 * from[i];
}
int next(int number) {
    calls++;
    return number + 1;
}
C

# loads MODES COUNT [SETTING]: so many can be loaded, by a program with quipu and by one without.
loads() {
    local modes=$1 count=$2 program said
    rm -rf quipu.data module.so*
    quipu cc --quipu="$modes" -O1 -fPIC -shared module.c -o module.so || fail "$modes: no module"
    quipu cc --quipu="$modes" -O1 main.c -o ours || fail "$modes: no program"
    for ((i = 0; i < count; i++)); do
        cp module.so "module.so.$i"
    done
    for program in ./ours ./plain; do
        said=$(env "${@:3}" $program "$count" ./module.so 2>&1)
        [[ $said == "$count" ]] || fail "$modes: $program with $count modules: $said"
    done
}

gcc -O1 main.c -o plain || fail "no plain program"
loads count 200
loads count,event,moment 200
loads watch 100
loads count,watch 100
loads calls 100
rm -rf quipu.data
./ours 100 ./module.so >/dev/null
quipu report --by=callsite quipu.data >sites || fail "no call sites"
grep -Eq ' 100  next +main$' sites || fail "not all modules are in the tree: $(cat sites)"
loads calls,watch 68
loads calls,watch 200 GLIBC_TUNABLES=glibc.rtld.optional_static_tls=20000

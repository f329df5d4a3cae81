#!/bin/bash
# 'quipu goto' reaches moments of a shared object that was closed and loaded again, at the same address
# or at another one, near its begin or not.
. "$(dirname "$0")/../bad/lib.bash"
top=$(cd "$(dirname "$0")/../.." && pwd)
cat >plugin.c <<'EOT'
#include <quipu.h>
#include <stdio.h>
static volatile int count;
int NAME(int turns) {
    char text[200];
    for (int i = 0; i < turns; i++)
        count++;
    struct quipu_moment now = quipu_now();
    quipu_print_moment(&now, text, sizeof text);
    puts(text);
    return 1;
}
EOT
cat >main.c <<'EOT'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
static void *load(const char *name) {
    void *handle = dlopen(name, RTLD_NOW);
    if (!handle)
        puts(dlerror());
    return handle;
}
__attribute__((noipa)) static int call(void *handle, const char *name, int turns) {
    int (*function)(int) = (int (*)(int))dlsym(handle, name);
    return function(turns) + 1;
}
/* main TURNS ELSEWHERE */
int main(int argc, char **argv) {
    int turns = atoi(argv[1]);
    for (int i = 0; argc > 2 && i < 3; i++) {
        void *a = load("./a.so"), *b = 0;
        call(a, "fa", turns);
        call(a, "fa", turns);
        dlclose(a);
        if (atoi(argv[2]) && i == 0)
            call(b = load("./b.so"), "fb", turns);
    }
    return 0;
}
EOT
for letter in a b; do
    quipu cc --quipu=moment -O1 -g -I"$top/include" -fPIC -shared -DNAME=f$letter plugin.c -o $letter.so ||
        fail "cannot build $letter.so"
done
quipu cc --quipu=moment -O1 -g main.c -o program || fail "cannot build"
for turns in 3 5000; do
    for elsewhere in 0 1; do
        ends 0 setarch -R ./program $turns $elsewhere
        [[ $(sort output | uniq | wc -l) -eq $((6 + elsewhere)) ]] || fail "names: $(cat output)"
        cp output moments
        while read -r moment; do
            ends 0 quipu goto --print "$moment" -- ./program $turns $elsewhere
            grep -q "^#0 .* f[ab] " output || fail "$moment: $(cat output messages)"
        done <moments
    done
done
# A moment behind the last load is missed.
ends 1 quipu goto --print "$(tail -n 1 moments | sed 's,@[0-9]*/,@1000000/,')" -- ./program 3 0
grep -q 'closed' messages || fail "$(cat messages)"

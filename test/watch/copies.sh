#!/bin/bash
# A variable of a shared object is watched where its object is: not where it was, once another object
# is there, and in the first copy of an object that dlmopen loads twice.
. "$(dirname "$0")/lib.bash"
cat >plugin.c <<'EOT'
long VALUE;
void step(void) { VALUE++; }
EOT
cat >main.c <<'EOT'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
static void *use(const char *name, int count) {
    void *handle = dlopen(name, RTLD_NOW);
    void (*step)(void) = (void (*)(void))dlsym(handle, "step");
    for (int i = 0; i < count; i++)
        step();
    return handle;
}
int main(int argc, char **argv) {
    if (argc == 1) {
        dlclose(use("./a.so", 3));
        void *other = use("./b.so", 5); /* where a was */
        void *first = use("./a.so", 2); /* elsewhere */
        dlclose(other);
        dlclose(first);
        use("./b.so", 4);
        return 0;
    }
    void *first = use("./a.so", 3);
    void *copy = dlmopen(LM_ID_NEWLM, "./a.so", RTLD_NOW);
    if (!copy)
        return 77;
    ((void (*)(void))dlsym(copy, "step"))();
    use("./a.so", 2);
    dlclose(copy);
    ((void (*)(void))dlsym(first, argv[1]))();
    return 0;
}
EOT
for letter in a b; do
    quipu cc --quipu=watch -g -O1 -fPIC -shared -DVALUE=value_$letter plugin.c -o $letter.so ||
        fail "cannot build $letter.so"
done
quipu cc --quipu=watch -g -O1 main.c -o program || fail 'cannot build'

# changes FIRST LAST: the hits tell of each of these changes of a's variable, and of nothing else.
changes() {
    local expected
    expected=$(for value in "$@"; do echo "$value -> $((value + 1))"; done)
    grep -o '[0-9]* -> [0-9]*' hits >found
    [[ $(cat found) == "$expected" ]] || fail "$1...: $(tr '\n' ';' <found)"
}
watches 0 -e ./a.so:value_a -- ./program
changes 0 1 2 0 1
watches 0 -e ./a.so:value_a -- ./program step
changes 0 1 2 3 4 5

#!/bin/bash
# Binaries that were moved behind the run are found in the directories of QUIPU_BINARIES, by their
# build ids: by name, and by the whole path below. Another build of that name is passed over.
. "$(dirname "$0")/lib.bash"
unset QUIPU_BINARIES
mkdir ran other copy
build() {
    quipu cc -O1 -shared -fPIC --quipu="$1" -o ran/plug.so -x c - <<<"int work(int n) { return n + $2; }" || fail "cannot build"
    make_program program -O1 -g --quipu="$1" -ldl <<EOT
#include <dlfcn.h>
int main(void) {
    int (*work)(int) = (int (*)(int))dlsym(dlopen("ran/plug.so", RTLD_NOW), "work");
    return work(1) + work(2) - 3 - 2 * $2;
}
EOT
    mv program ran
}
build count 2
mv ran/* other
build count 1
ran/program || fail "the program failed"
quipu report --format=csv --by=function quipu.data >whole || fail "no report"
[[ $(grep -c '^work,\|^main,' whole) -eq 2 ]] || fail "$(cat whole)"
mv ran moved
ends 1 quipu report quipu.data
said "its binary '$PWD/ran/program' cannot be read: No such file or directory; if it was moved, name its directory in QUIPU_BINARIES"
export QUIPU_BINARIES=$PWD/other
ends 1 quipu report quipu.data
said "its binary '$PWD/ran/program' cannot be read"
QUIPU_BINARIES=:$PWD/none:$PWD/other:$PWD/moved:
for way in moved copied replaced; do
    ends 0 quipu report --format=csv --by=function quipu.data
    [[ ! -s messages ]] || fail "$way: $(cat messages)"
    cmp -s output whole || fail "$way: $(diff whole output)"
    case $way in
    moved) # to a copy of the file system
        mkdir -p "copy$PWD" && mv moved "copy$PWD/ran"
        QUIPU_BINARIES=$PWD/copy
        ;;
    copied) mv other ran ;; # another build is where it ran
    esac
done
rm -r ran/* "copy$PWD/ran"

# A trace.
build trace 1
quipu trace -o run.trace -- ran/program || fail "no trace"
quipu print run.trace >whole || fail "no text"
mv ran moved
ends 1 quipu print run.trace
said "if that was moved, name its directory in QUIPU_BINARIES"
QUIPU_BINARIES=$PWD/moved
ends 0 quipu print run.trace
cmp -s output whole || fail "trace: $(diff whole output | head)"

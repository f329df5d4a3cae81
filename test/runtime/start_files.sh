#!/bin/bash
# Shared objects that are linked without the compiler's start files: they link, count, and are
# forgotten by the C library at dlclose, so that a fork behind it runs nothing of theirs.
. "$(dirname "$0")/../bad/lib.bash"
cat >library.c <<'C'
int value(int factor) {
    int sum = 0;
    for (int i = 0; i < factor; i++)
        sum += i * factor;
    return sum;
}
C
cat >program.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void) {
    void *library = dlopen("./library.so", RTLD_NOW);
    int (*value)(int) = library ? (int (*)(int))dlsym(library, "value") : NULL;
    int sum = value ? value(10) : -1, first = 0, second = 0;
    if (value && fork() == 0)
        _exit(value(20) == 3800 ? 0 : 1);
    wait(&first);
    if (library)
        dlclose(library);
    if (fork() == 0)
        _exit(0);
    wait(&second);
    printf("%d %d %d\n", sum, first, second);
    return 0;
}
C
ends 0 gcc -O1 program.c -o program
export QUIPU_DATA=$PWD/data

# behaves WHAT
behaves() {
    rm -rf data
    ends 0 ./program
    [[ $(<output) == '450 0 0' ]] || fail "$1: $(<output)"
}

for mode in count event moment calls watch; do
    ends 0 quipu cc --quipu=$mode -O1 -fPIC -c library.c
    ends 0 quipu cc --quipu=$mode -shared -nostartfiles library.o -o library.so
    behaves "$mode"
done
ends 0 quipu cc -O1 -fPIC -c library.c
for linker in bfd gold lld mold; do
    has "ld.$linker" || continue
    for options in -nostartfiles '-nostdlib -lc -lgcc' '-nodefaultlibs -lc'; do
        # shellcheck disable=SC2086
        ends 0 quipu cc -shared "-fuse-ld=$linker" library.o $options -o library.so
        [[ ! -s messages ]] || fail "$linker, '$options': $(<messages)"
        behaves "$linker, '$options'"
        expect_calls value 2 data
    done
done

# Such a file by name is the one that is taken.
start="$(gcc -print-file-name=crti.o) $(gcc -print-file-name=crtbeginS.o)"
last="$(gcc -print-file-name=crtendS.o) $(gcc -print-file-name=crtn.o)"
# shellcheck disable=SC2086
ends 0 quipu cc -shared -nostartfiles $start library.o $last -o library.so
[[ ! -s messages ]] || fail "'$start': $(<messages)"
behaves "'$start'"
expect_calls value 2 data
exit 0

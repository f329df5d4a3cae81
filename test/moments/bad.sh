#!/bin/bash
# What 'quipu goto' refuses: one error each, exit status 1, nothing left running, and no directory
# for the time being left behind.
. "$(dirname "$0")/../bad/lib.bash"
export TMPDIR=$PWD/temporary
mkdir "$TMPDIR"
cat >other.c <<<'int main(void) { return 0; }'
make_program program --quipu=moment -O1 -g -pthread <<'EOT'
#include <pthread.h>
__attribute__((noinline)) static int work(int n) {
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum ^= sum * i + n;
    return sum;
}
static void *start(void *argument) {
    return work(3) ? argument : NULL;
}
int main(int argc, char **argv) {
    pthread_t thread;
    (void)argv;
    int sum = argc > 1 ? work(5000) : work(10);
    if (pthread_create(&thread, NULL, start, NULL))
        return 1;
    pthread_join(thread, NULL);
    return sum == 12345;
}
EOT
quipu cc --quipu=moment -O1 other.c -o other || fail "cannot build 'other'"
quipu cc -O1 other.c -o counted || fail "cannot build 'counted'"
quipu cc --quipu=none -O1 other.c -o plain || fail "cannot build 'plain'"
quipu cc --quipu=moment -O1 other.c -Wl,--dynamic-linker=/nowhere/ld.so -o unloadable || fail "cannot build"
cp program stripped && strip stripped
go() {
    refuses "$1" -- quipu goto --exec=true "${@:2}"
}
for text in '' main @1 main@ main@x main@-1 main+@1 main+x@1 main+1x@1 'main@1/' main@1/0 main@1/x \
    main@1/99999999999 main@1~ main@1~xyz main@1/1x main@99999999999999999999999 :1@1 program.c:@1 \
    program.c:0@1 program.c:x@1 program.c:99999999999@1; do
    go "'$text'" "$text" -- ./program
done
go "no function 'nowhere'; a moment of a shared object ends with" nowhere@1 -- ./program
go "shorter" main+0x10000@1 -- ./program
go "nowhere.c" nowhere.c:1@1 -- ./program
go "no code at line 1" program.c:1@1 -- ./program
go "another build" main@1~00000000 -- ./program
go "no such program" main@1 -- ./no_such_program
go "no such program" main@1 -- no_such_program
chmod +x program.c
go "ELF" main@1 -- ./program.c
go "--quipu=moment" main@1 -- ./plain
go "--quipu=moment" main@1 -- ./counted
go "symbols" main@1 -- ./stripped
go "unloadable" main@1 -- ./unloadable
go "no debug information" other.c:1@1 -- ./other
go "has ended (exit status 0)" work@1000000 -- ./program
go "has ended" work@18446744073709551615 -- ./program
go "had 2 threads" work@1/3 -- ./program
go "was not there at tick 3" start@3 -- ./program more
# where the run went instead
go "the thread ended at tick" work@1000000 -- ./program
go "instruction" main+0x3@1 -- ./program
refuses "no moment" -- quipu goto
refuses "no program" -- quipu goto main@1
refuses "no program" -- quipu goto main@1 --
refuses "nonsense" -- quipu goto --nonsense main@1 -- ./program
refuses "--exec" -- quipu goto --exec
TMPDIR=/nowhere go "TMPDIR" work@2 -- ./program
ends 3 quipu goto --exec='exit 3' work@2 -- ./program
ends 0 quipu goto --print work@2 -- ./program
[[ -z $(ls -A "$TMPDIR") ]] || fail "left in TMPDIR: $(ls -A "$TMPDIR")"
running=$(grep -lz "^./program$" /proc/[0-9]*/cmdline 2>/dev/null | while read -r file; do
    [[ $(readlink "${file%cmdline}cwd") != "$PWD" ]] || echo "$file"; done)
[[ -z $running ]] || fail "left running: $running"

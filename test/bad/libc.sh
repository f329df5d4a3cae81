#!/bin/bash
# quipu libc, and --quipu-libc: what is missing, what is not ours to replace, sources that are none,
# libraries of another kind or of another quipu.
. "$(dirname "$0")/lib.bash"
echo 'int main(void) { return 0; }' >main.c

refuses "--build is missing" "'quipu libc --help'" -- quipu libc
refuses "--output is missing" -- quipu libc --build
refuses "'here': no such argument" -- quipu libc --build here
refuses "'--quipu=tarce'" "did you mean 'trace'?" -- quipu libc --build -o new --quipu=tarce
refuses "'--quipu-event=lods'" "did you mean 'loads'?" -- quipu libc --build -o new --quipu-event=lods
for number in 0 -1 x 2x 99999; do
    refuses "'--jobs=$number'" -- quipu libc --build -o new --jobs=$number
done
refuses "'none': No such file" "--source" -- quipu libc --build -o new --source=none
refuses "cannot make 'none/new'" -- quipu libc --build -o none/new
[[ ! -e new ]] || fail "a build that is refused leaves something"

# A directory of others is kept.
mkdir full && touch full/file
refuses "'full'" "name another directory" -- quipu libc --build -o full
refuses "'main.c'" "name another directory" -- quipu libc --build -o main.c
[[ -e full/file && $(ls -A full) == file ]] || fail "something else was changed"

# Sources that are none.
refuses "no source of musl" "--source" -- quipu libc --build -o new --source=full
refuses "unpacking" "build.log" -- quipu libc --build -o new --source=main.c
mkdir -p old/src/env old/src/process && touch old/src/env/__init_tls.c old/src/process/fork.c
refuses "no system call of fork" "1.2.2" -- quipu libc --build -o new --source=old
refuses "'gcc-none': not found" -- quipu libc --build -o new --source=old --compiler=gcc-none
mkdir "two words"
refuses "no blanks" -- quipu libc --build -o "two words" --source=old
[[ ! -e new/quipu-libc ]] || fail "a library that is not whole seems to be"
refuses "'new' has no C library" "quipu libc --build" -- quipu cc --quipu-libc=new main.c

# Libraries that do not fit.
refuses "'none' has no C library" "quipu libc --build" -- quipu cc --quipu-libc=none -c main.c
mkdir other
printf 'trace\n0.0.1-0\n' >other/quipu-libc
refuses "built for 'trace', the program for 'count+event:event=loads'" "quipu libc --build" -- \
    quipu cc --quipu=count,event --quipu-event=loads --quipu-libc=other main.c
refuses "built for 'trace', the program for 'none'" -- quipu cc --quipu=none --quipu-libc=other main.c
refuses "another quipu (0.0.1-0)" "build it again" -- quipu cc --quipu=trace --quipu-libc=other main.c
refuses "'-shared'" -- quipu cc --quipu=trace --quipu-libc=other -shared main.c
refuses "'g++' cannot use it" -- quipu-c++ --quipu-libc=other -c main.c
refuses "clang" "cannot use it" -- quipu-clang --quipu-libc=other -c main.c
: >other/quipu-libc
refuses "built for ''" -- quipu cc --quipu-libc=other main.c

#!/bin/bash
# quipu in front of a compiler, as a launcher; modes and options from the environment; programs that
# leave no data because of QUIPU_DATA=none, or because configure, cmake or meson built them to look
# what there is.
# timeout: 120
shared=$(cd "$(dirname "$0")/../../share" && pwd)
. "$(dirname "$0")/lib.bash"
cat >program.c <<'EOT'
int work(int n) { return n + 1; }
int main(int argc, char **argv) { return work(argc) != 2 || !argv; }
EOT
counted() {
    ./"$1" || fail "'$1' failed"
    quipu report --function=work --format=csv quipu.data >counts || fail "'$1' has no counts"
    grep -q '^work,.*,1,' counts || fail "'$1': $(cat counts)"
    rm -r quipu.data
}
gcc=$(command -v gcc)
for compiler in gcc "$gcc" "$(readlink -f "$gcc")"; do
    ends 0 quipu "$compiler" -O1 -g program.c -o program
    counted program
done
refuses "'program.c': no such command" -- quipu program.c
refuses "'gcc-0.7': no such command" -- quipu gcc-0.7 program.c
refuses "'nowhere/gcc': no such command" -- quipu nowhere/gcc program.c

# The environment's options come first, and those of the command line may change them.
QUIPU_MODE=event ends 0 quipu gcc -O1 -g program.c -o program
./program && ends 0 quipu stat --data quipu.data
grep -q '[1-9].*instructions' output || fail "QUIPU_MODE=event: $(cat output)"
rm -r quipu.data
QUIPU_MODE=event ends 0 quipu gcc --quipu=count -O1 -g program.c -o program
counted program
QUIPU_MODE=none ends 0 quipu cc -O1 -g program.c -o program
./program && [[ ! -e quipu.data ]] || fail "QUIPU_MODE=none: it counts"
QUIPU_FLAGS=' --quipu=count,event  --quipu-event=mul=mul* ' ends 0 quipu gcc -O1 -g program.c -o program
./program && ends 0 quipu stat --data quipu.data
grep -q ' mul' output || fail "QUIPU_FLAGS: $(cat output)"
rm -r quipu.data
QUIPU_MODE=cuont refuses "QUIPU_MODE='cuont': " -- quipu gcc -c program.c
QUIPU_FLAGS=-O2 refuses "QUIPU_FLAGS: '-O2': only options of quipu's" -- quipu gcc -c program.c
QUIPU_FLAGS=--quipu-evnet=x refuses "'--quipu-evnet=x': no such option" -- quipu gcc -c program.c

# No data is wanted.
cat >library.c <<'EOT'
int work(int n) { return n + 1; }
EOT
quipu cc -O1 -g -shared -fPIC --quipu=count,calls library.c -o library.so || fail "cannot build"
mkdir -p sub/CMakeFiles/CMakeScratch meson-private old
touch old/confdefs.h # autoconf 2.52
for name in probed conftest cmTC_1a2b old/a.out sub/CMakeFiles/CMakeScratch/x meson-private/sanitycheckc.exe; do
    quipu cc -O1 -g --quipu=count,calls -x c - -x none ./library.so -o $name <<<'
        #include <unistd.h>
        int work(int);
        int main(void) { fork(); return work(1) != 2; }' || fail "cannot build '$name'"
    if [[ $name == probed ]]; then
        QUIPU_DATA=none ./probed 2>messages
        [[ ! -e none && ! -s messages ]] || fail "QUIPU_DATA=none: $(cat messages)"
    else
        ./$name 2>messages
        [[ ! -s messages ]] || fail "$name: $(cat messages)"
    fi
    [[ ! -e quipu.data ]] || fail "'$name' leaves data"
    QUIPU_PROBES=keep ./$name
    ends 0 quipu report --function=work --format=csv
    grep -q '^work,.*,2,' output || fail "'$name': $(cat output)"
    QUIPU_DATA=none ends 0 quipu report --function=work
    rm -r quipu.data
done

# cmake
has cmake || exit 0
PATH=$(dirname "$quipu"):$PATH
cat >CMakeLists.txt <<'EOT'
cmake_minimum_required(VERSION 3.21)
project(launched C)
include(CheckCSourceRuns)
check_c_source_runs("int main(void) { return 0; }" RUNS)
add_executable(launched program.c)
EOT
ends 0 cmake -S . -B built -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_COMPILER_LAUNCHER="$quipu" -DCMAKE_C_LINKER_LAUNCHER="$quipu"
ends 0 cmake --build built
[[ -z $(find . -name quipu.data) ]] || fail "cmake's probes leave data"
counted built/launched
ends 0 cmake -S . -B other -DCMAKE_TOOLCHAIN_FILE="$shared/quipu.cmake"
ends 0 env QUIPU_MODE=event cmake --build other
other/launched && ends 0 quipu stat --data quipu.data
# Behind the data there may be more options; behind a program they are the program's.
quipu stat --data --by=event quipu.data >front || fail "no events"
ends 0 quipu stat --data quipu.data --by=event
cmp -s front output || fail "an option behind the data is something else: $(cat output)"
refuses "'--nope'" -- quipu stat --data quipu.data --nope

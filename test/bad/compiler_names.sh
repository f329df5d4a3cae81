#!/bin/bash
# Which compiler each name of ours runs, of those that are installed: here none but these.
. "$(dirname "$0")/lib.bash"
mkdir bin ours
for compiler in gcc gcc-14 g++-13 gfortran-9 gfortran-14 gnatgcc-15 gdc clang-9 clang-19 clang-format-20 \
    clang++-21 clang++-22.1; do
    printf '#!/bin/sh\necho "%s $*"\n' "$compiler" >"bin/$compiler"
    chmod +x "bin/$compiler"
done
: >bin/clang-30 # cannot be run

# runs COMPILER NAME...: that is what each NAME runs.
runs() {
    local compiler=$1 name
    shift
    for name; do
        ln -sf "$quipu" "ours/$name"
        PATH=$PWD/bin ends 0 "ours/$name" --quipu=none -c it.c
        [[ $(cat output) == "$compiler "*"-c it.c" ]] || fail "'$name' runs: $(cat output), not $compiler"
    done
}
runs gcc quipu-cc quipu-gcc quipu-ada
runs gcc-14 quipu-cc-14 quipu-gcc-14
runs g++-13 quipu-c++ quipu-c++-13 quipu-g++ quipu-g++-13
runs gfortran-9 quipu-fortran-9
runs gfortran-14 quipu-fortran quipu-gfortran
runs gnatgcc-15 quipu-ada-15
runs gdc quipu-d
runs clang-19 quipu-clang quipu-clang-19
runs clang++-21 quipu-clang++
runs clang++-22.1 quipu-clang++-22.1
for name in fortran d; do
    PATH=$PWD/bin ends 0 "$quipu" $name --quipu=none -c it.c
    cp output command
    PATH=$PWD/bin ends 0 "ours/quipu-$name" --quipu=none -c it.c
    cmp command output || fail "'quipu $name' runs: $(cat command)"
done
for name in quipu-clang-18 quipu-fortran-10; do
    ln -sf "$quipu" "ours/$name"
    PATH=$PWD/bin ends 127 "ours/$name" -c it.c
    said "cannot run the compiler"
done
cp bin/gcc-14 bin/gcc-13
sed -i s/14/13/ bin/gcc-13
runs gcc quipu-ada
printf '#!/bin/sh\n' >bin/gnatmake-13
chmod +x bin/gnatmake-13
runs gcc-13 quipu-ada
cp bin/gnatgcc-15 bin/gnatgcc
runs gnatgcc-15 quipu-ada # it says so
cp bin/clang-9 bin/clang
runs clang-9 quipu-clang # it says so

# Those with a version that this machine has are in the build tree, and go away with the others.
make -s -C "$(dirname "$0")/../.." install "B=$(dirname "$(dirname "$quipu")")" "PREFIX=$PWD/there" >log 2>&1 ||
    fail "cannot install: $(cat log)"
for name in $("$(dirname "$0")/../../scripts/compilers"); do
    [[ -x there/bin/quipu-$name ]] || fail "no quipu-$name is installed"
    [[ $name != gcc-[0-9]* && $name != clang-[0-9]* ]] || "there/bin/quipu-$name" --version >output ||
        fail "quipu-$name does not run"
done
ln -s elsewhere there/bin/quipu-foreign
make -s -C "$(dirname "$0")/../.." uninstall "B=$(dirname "$(dirname "$quipu")")" "PREFIX=$PWD/there" >log 2>&1 ||
    fail "cannot uninstall: $(cat log)"
[[ $(ls there/bin) == quipu-foreign ]] || fail "left: $(ls there/bin)"

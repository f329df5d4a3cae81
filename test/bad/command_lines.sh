#!/bin/bash
# Command lines that builds are known to make: libtool's links of C++, one object made of others,
# headers compiled by themselves, arguments in files, archives of -flto, build ids of any length.
. "$(dirname "$0")/lib.bash"
cat >part.cc <<'C'
#include "part.h"
__attribute__((noinline, used)) int part(int value) {
    return value % 2 ? half(value) : value;
}
C
cat >part.h <<'C'
int part(int value);
static inline int half(int value) {
    return value / 2;
}
C
cat >main.cc <<'C'
#include "part.h"
int main() {
    int sum = 0;
    for (int i = 0; i < 10; i++)
        sum += part(i);
    return sum == 30 ? 0 : 1;
}
C

# builds COMMAND...: it succeeds, and says nothing.
builds() {
    ends 0 "$@"
    [[ ! -s messages ]] || fail "'$*' said: $(cat messages)"
}

# counts PROGRAM: each call of part() is counted.
counts() {
    rm -rf quipu.data
    builds "$@"
    expect_calls _Z4parti 10
}

# libtool takes the objects around its own from the commands of a link, and names them in its links.
builds quipu-c++ -O1 -fPIC -c part.cc -o part.o
quipu-c++ -shared part.o -v -o unused.so 2>commands || fail "cannot link: $(cat commands)"
words=$(grep collect2 commands | tr ' ' '\n' | grep '\.o$')
before=$(sed '/^part\.o$/,$d' <<<"$words")
behind=$(sed '1,/^part\.o$/d' <<<"$words")
[[ $before == *begin.o* ]] || fail "no objects of ours in: $words"
# shellcheck disable=SC2086
builds quipu-c++ -fPIC -shared -nostdlib $before part.o -lstdc++ -lm -lc $behind -o libpart.so
builds quipu-c++ -O1 main.cc -L. -lpart -Wl,-rpath,. -o shared
counts ./shared
# shellcheck disable=SC2086
builds quipu-c++ --quipu=none -fPIC -shared -nostdlib $before -x c++ part.cc -x none -lc $behind \
    -o libnone.so
grep -q quipu < <(readelf -SW libnone.so) && fail "--quipu=none was given objects of quipu's"

builds quipu-c++ -O1 -c main.cc part.cc
for options in -r "-Wl,-r -nostartfiles -no-pie" "-Wl,-x,--relocatable -nostartfiles -no-pie" \
    "-Xlinker -r -nostartfiles -no-pie"; do
    # shellcheck disable=SC2086
    builds quipu-c++ $options -nodefaultlibs main.o part.o -o both.o
    builds quipu-c++ both.o -o both
    counts ./both
done

for compiler in quipu-c++ quipu-clang++; do
    has ${compiler#quipu-} || continue
    for header in part.h "-x c++-header part.h" "-xc++-header part.h"; do
        rm -f part.h.[gp]ch a.out
        # shellcheck disable=SC2086
        ends 0 $compiler -O1 $header
        [[ (-e part.h.gch || -e part.h.pch) && ! -e a.out ]] || fail "'$compiler $header' makes no compiled header"
    done
    rm -f part.h.[gp]ch
done
builds quipu-c++ -O1 part.h
builds quipu-c++ -O1 -Winvalid-pch main.cc part.cc -o precompiled
counts ./precompiled
rm part.h.gch

# More arguments than a command may have; the compiler reads the file itself.
builds quipu-c++ -O1 -c main.cc part.cc
ar rc nothing.a
{
    echo "main.o part.o -o many"
    yes "$(printf './%.0s' {1..1500})nothing.a" | head -n 1000
} >many.rsp
builds quipu-c++ @many.rsp
counts ./many
echo "--quipu=none -O1" >own.rsp
builds quipu-c++ @own.rsp main.cc part.cc -o none
grep -q quipu < <(readelf -SW none) && fail "an option of ours in a file is not heeded"

# -static is the linker's affair.
for compiler in quipu-c++ quipu-clang++; do
    has ${compiler#quipu-} || continue
    builds $compiler -O1 -fPIC -static -c part.cc -o part.o
    builds $compiler -shared part.o -o libpart.so
    counts ./shared
done

# cmake makes the names of the archive tools from the compiler's.
builds quipu-c++ -O1 -flto -c part.cc
builds quipu-gcc-ar rc libarchive.a part.o
builds quipu-gcc-ranlib libarchive.a
builds quipu-gcc-nm libarchive.a
grep -q _Z4parti output || fail "quipu-gcc-nm does not see into objects of -flto"
builds quipu-c++ -O1 -flto main.cc libarchive.a -o archived
counts ./archived

builds quipu-c++ -O1 main.cc part.cc -Wl,--build-id=0x"$(printf '%088d' 1)" -o identified
counts ./identified
exit 0

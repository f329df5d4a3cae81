#!/bin/bash
# quipu cache --by=object names blocks by the call that matters: not one in a system header, nor in a
# function of --allocators. Inlined calls are calls, too.
. "$(dirname "$0")/lib.bash"
needs g++

cat >program.cc <<'C'
#include <cstdlib>
#include <map>
#include <vector>
#define APART __attribute__((noinline, noclone))
APART static void *take(std::size_t size) { return std::malloc(size); }
APART static long *numbers(int n) {
    long *some = (long *)take(n * sizeof(long));  // NUMBERS
    some[0] = n;                                  // so the call before is no jump
    return some;
}
static inline __attribute__((always_inline)) long *inlined(int n) { return (long *)std::malloc(n * 8); }
int main(int argc, char **) {
    std::vector<int> list;
    std::map<int, int> tree;
    long sum = 0, *some = numbers(100 * argc), *others = inlined(200 * argc);
    for (int i = 0; i < 100; i++)
        some[i] = others[i] = sum += i;
    list.resize(500 * argc);  // LIST
    for (int i = 0; i < 70; i++)
        tree[i] = i;  // TREE
    for (int i = 0; i < 100; i++)
        sum += some[i] ^ others[i] ^ list[i] ^ tree[i % 70];
    std::free(some);
    std::free(others);
    return sum == 0;
}
C
line() {
    grep -n "$1" program.cc | cut -d: -f1
}
# has BLOCKS BYTES NAME: the table has the heap block NAME, with so many blocks of so many bytes.
has() {
    awk -F, -v blocks="$1" -v bytes="$2" -v name="heap block of program.cc:$3" \
        '$NF == name && $(NF - 2) == blocks && $(NF - 1) == bytes { found = 1 } END { exit !found }' table ||
        fail "$flags: no '$*' in $(cut -d, -f21- table)"
}
for flags in -O0 -O2 "-O2 -fPIE -fno-plt"; do
    "$quipu" cc --quipu=trace $flags -g program.cc -o program -lstdc++
    "$quipu" trace -o program.trace -- ./program
    "$quipu" cache --by=object --format=csv program.trace | tr -d '\r' >table
    has 1 800 "$(line 'void \*take') (take(unsigned long))"
    has 1 1600 "$(line 'long \*inlined') (inlined)"
    has 1 2000 "$(line LIST) (main)"
    has 70 2800 "$(line TREE) (main)"
    "$quipu" cache --by=object --allocators='inlined,tak?' --format=csv program.trace | tr -d '\r' >table
    has 1 800 "$(line NUMBERS) (numbers(int))"
    has 1 1600 "$(line 'inlined(200') (main)"
    # all pass: the innermost one
    "$quipu" cache --by=object --allocators='*' --format=csv program.trace | tr -d '\r' >table
    has 1 800 "$(line 'void \*take') (take(unsigned long))"
done
got=0
"$quipu" cache --by=line --allocators=take program.trace 2>err >/dev/null || got=$?
[ "$got" = 1 ] && [ "$(cat err)" = "quipu: error: '--allocators' needs --by=object" ] || fail "$(cat err)"

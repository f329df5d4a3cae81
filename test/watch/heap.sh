#!/bin/bash
# Blocks of the heap by the line that allocates them: the program says itself what it writes to which
# of them, and that is what is told.
. "$(dirname "$0")/lib.bash"
cp "$top/test/watch/parts/heap.c" program.c
cp program.c program.cc
cp "$top/test/watch/parts/heap.py" .

# line NAME: the number of the program's line with that mark.
line() {
    grep -n "/\* LINE $1 \*/" program.c | cut -d: -f1
}

# checks LEVEL: what a program tells in JSON is what it says that it has done.
checks() {
    local name options=() names=(loop clear resize both aligned posix copied tail mapped thread wide)
    [[ $source == *.c ]] || names+=(object array nothrow)
    for name in "${names[@]}"; do
        options+=(--heap "$source:$(line "$name")")
    done
    options+=(-e "heap:$source:$(line sliced)[4..11]")
    watches 0 --format=json "${options[@]}" -- ./program
    python3 heap.py "$source" hits output >difference || fail "$level: $(cat difference)"
}

source=program.c
for level in -O0 -O2 '-O2 -fPIC' '-O2 -static' '-O2 -fno-plt' '-O1 -fno-pie -no-pie'; do
    read -ra flags <<<"$level"
    quipu cc --quipu=watch "${flags[@]}" -g -pthread program.c -o program 2>messages ||
        fail "$level: cannot build: $(cat messages)"
    checks
done
source=program.cc
for level in -O0 -O2; do
    quipu-c++ --quipu=watch "$level" -g -pthread program.cc -o program 2>messages ||
        fail "C++ $level: cannot build: $(cat messages)"
    checks
done

# Text, tables, conditions, promises, limits.
quipu cc --quipu=watch -O1 -g -pthread program.c -o program 2>messages || fail "$(cat messages)"
loop=program.c:$(line loop)
watches 0 --heap "$loop" -- ./program
grep -qE "^ +1:  block 1 of ${loop}\[0\.\.3\] +0x[0-9a-f]+ -> 0x64 +\(byte\[4\]\)  put  program.c:" hits ||
    fail "text: $(head -n 3 hits)"
grep -qE 'put .* after free by release +program.c:[0-9]+$' hits || fail "no 'after free': $(cat hits)"
watches 0 --summary --heap "$loop" -- ./program
grep -qE "put +program.c:[0-9]+ +heap:$loop " hits || fail "summary: $(cat hits)"
watches 0 --if 'after_free && old != new' --heap "$loop" -- ./program
[[ -s hits ]] && ! grep -qv 'after free' hits || fail "--if after_free: $(cat hits)"
watches 0 --if 'new == 100' --heap "$loop" -- ./program
[[ $(wc -l <hits) -eq 1 ]] || fail "--if new: $(cat hits)"
watches 1 --never-written "heap:${loop}[0]" -- ./program
watches 0 --limit 1 --heap "$loop" -- ./program
[[ $(wc -l <hits) -eq 1 ]] || fail "--limit: $(cat hits)"

# rejects TEXT EXPRESSION: an error about the expression.
rejects() {
    ends 1 quipu watch --heap "$2" -- ./program
    grep -qF -- "$1" messages && grep -qF "    heap:$2" messages && [[ ! -s output ]] ||
        fail "'$2': $(cat messages)"
}

rejects "there is no code of line 1; of line" program.c:1
rejects "there is no code of a source file 'other.c'" other.c:1
rejects "here must be ']'" "${loop}[1..2"
rejects "the last byte is not behind the first" "${loop}[2..1]"
rejects "behind the line there may be a slice" "${loop}.value"
watches 0 --heap "program.c:$(line none)" -- ./program
grep -qF "no call in that line has allocated anything" messages || fail "no warning: $(cat messages)"

# What stdio writes to a block.
cat >streams.c <<'END'
#include <stdio.h>
#include <stdlib.h>
int main(void) {
    char *block = malloc(24);
    FILE *file = fmemopen((void *)"one\ntwo\n", 8, "r");
    if (!block || !file || !fgets(block, 8, file) || fread(block + 8, 1, 3, file) != 3)
        return 1;
    fclose(file);
    free(block);
    return 0;
}
END
quipu cc --quipu=watch -O1 -g streams.c -o streams || fail "cannot build 'streams'"
watches 0 --heap='streams.c:4' -- ./streams
[[ $(grep -c 'streams\.c:6  call f' hits) -eq 2 ]] || fail "$(cat hits)"
leaves_nothing

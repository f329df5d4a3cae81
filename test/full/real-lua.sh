#!/bin/bash
# Lua: its own makefile, without Debian's patches to it; then the test suite of LPeg, built as a
# module that this Lua loads, and a script of everything, compared with the plain build's output.
. "$(dirname "$0")/lib.bash"
fetch lua5.4 lua-lpeg
step patch -R -p1 -d lua5.4 -i debian/patches/0002-lua-modules-paths.patch
step patch -R -p1 -d lua5.4 -i debian/patches/0001-build-system.patch
cp -a lua5.4 plain
step make -C plain linux
step make -C lua5.4 linux CC='quipu-cc -std=gnu99' MYCFLAGS=-g
instrumented lua5.4/src/lua 650
lua=$top/lua5.4/src/lua
cd lua-lpeg || exit 1
step make linux CC=quipu-cc LUADIR="$top/lua5.4/src" COPT='-O2 -g -DNDEBUG'
test_with "$lua" test.lua
grep -q OK "$top/step.log" || fail "LPeg's tests: $(tail -n 5 "$top/step.log")"
counted luaV_execute
counted luaopen_lpeg
script=$root/bench/workloads/mix.lua
"$top/plain/src/lua" "$script" 1 >"$top/plain.out" 2>&1
"$lua" "$script" 1 >"$top/ours.out" 2>&1
cmp "$top/plain.out" "$top/ours.out" || fail "mix.lua prints other things"

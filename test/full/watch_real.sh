#!/bin/bash
# Programs that others wrote, built with --quipu=watch: Lua and zlib behave as plain builds do, with
# nothing watched, with a variable watched, and with all checks put back that were left out.
. "$(dirname "$0")/lib.bash"
fetch lua5.4 zlib
step patch -R -p1 -d lua5.4 -i debian/patches/0002-lua-modules-paths.patch
step patch -R -p1 -d lua5.4 -i debian/patches/0001-build-system.patch
cp -a lua5.4 plain
step make -C plain linux
step make -C lua5.4 linux CC='quipu-cc --quipu=watch -std=gnu99' MYCFLAGS=-g
script=$root/bench/workloads/mix.lua
lua=$top/lua5.4/src/lua
nowhere=0x10000000000:8 # no variable's: it may be of a stack

# behaves COMMAND...: says of mix.lua what the plain one says.
"$top/plain/src/lua" "$script" 1 >plain.out 2>&1
behaves() {
    "$@" "$script" 1 >ours.out 2>messages || fail "'$*' fails: $(cat messages)"
    cmp plain.out ours.out || fail "'$*': mix.lua prints other things"
}
behaves "$lua"
behaves quipu watch --log=hits -e progname -- "$lua"
grep -q ' pmain .*lua\.c:' hits || fail "nobody writes progname: $(cat hits)"
behaves quipu watch --log=hits -e "$nowhere" -- "$lua"
[[ ! -s hits ]] || fail "hits of nothing: $(head hits)"

cd zlib || exit 1
CC='quipu-cc --quipu=watch' CFLAGS='-O2 -g' step ./configure --static
step make
step make test
grep -q 'zlib test OK' "$top/step.log" || fail "zlib's tests: $(tail -n 5 "$top/step.log")"
step quipu watch --log="$top/hits" -e "$nowhere" -- ./example

#!/bin/bash
# Real programs, built in many ways: each instruction has the line that addr2line tells, or none.  One
# in four source files is compiled without debug information, beside what the programs leave without
# it themselves.
# timeout: 7200
. "$(dirname "$0")/lib.bash"
quipu=$(command -v quipu)
. "$root/test/needs.sh.inc"
. "$root/test/export/lines/lib.bash"
needs dwp gfortran gdc ld.gold ld.lld ld.mold
build_line_of
fetch lua5.4 pugixml lapack redis
step patch -R -p1 -d lua5.4 -i debian/patches/0002-lua-modules-paths.patch

# lua NAME COMPILER FLAGS LINK_FLAGS
mapfile -t lua_sources < <(find "$PWD/lua5.4/src" -name '*.c' ! -name luac.c | sort)
lua() {
    program "lua-$1" "$2" "-std=gnu99 -DLUA_USE_POSIX -w -g -O1 $3" "$4 -lm" "${lua_sources[@]}"
}
lua gcc-4 gcc '-O2 -gdwarf-4' ''
lua gcc-5 gcc '-O2 -gdwarf-5' ''
lua split-4 gcc '-gdwarf-4 -gsplit-dwarf' ''
lua split-5 gcc '-gdwarf-5 -gsplit-dwarf' ''
lua collected gcc '-ffunction-sections -fdata-sections' '-Wl,--gc-sections'
lua gold-icf gcc '-ffunction-sections' '-fuse-ld=gold -Wl,--gc-sections -Wl,--icf=all'
lua lto gcc '-O2 -flto' ''
lua mold-lto gcc '-O2 -flto' '-fuse-ld=mold'
lua least gcc '-g1' ''
lua compressed gcc '-gz=zlib' ''
lua own-table gcc '-gno-as-loc-support' ''
lua renamed gcc "-ffile-prefix-map=$PWD=." ''
lua clang-4 $clang '-gdwarf-4' ''
lua clang-5 $clang '-gdwarf-5 -O2' ''
lua clang-split $clang '-gdwarf-5 -gsplit-dwarf' ''
lua clang-least $clang '-gline-tables-only' ''
lua lld-icf $clang '-O2 -ffunction-sections' '-fuse-ld=lld -Wl,--gc-sections -Wl,--icf=all'
lua clang-lto $clang '-O2 -flto' '-fuse-ld=lld'

# Templates and inline functions, which many objects have and linkers keep once.
pugixml() {
    program "pugixml-$1" "$2" "-w -g -O1 $3" "$4" "$PWD"/pugixml/src/pugixml.cpp \
        "$PWD"/pugixml/tests/{main,test,allocator,writer_string,test_header_string_1}.cpp \
        "$PWD"/pugixml/tests/{test_xpath,test_document,test_memory,test_unicode,test_compact}.cpp
}
pugixml gcc-4 g++ '-gdwarf-4 -fdebug-types-section' ''
pugixml gcc-5 g++ '-gdwarf-5 -fdebug-types-section' ''
pugixml gold-icf g++ '-ffunction-sections' '-fuse-ld=gold -Wl,--gc-sections -Wl,--icf=all'
pugixml clang-5 ${clang/clang/clang++} '-gdwarf-5 -O2' ''
pugixml lld-icf ${clang/clang/clang++} '-O2 -ffunction-sections' '-fuse-ld=lld -Wl,--icf=all'

program blas gfortran '-w -g -O2' '' lapack/BLAS/SRC/{d,lsame}*.f lapack/BLAS/TESTING/dblat3.f
program d gdc '-g -O1' '' "$root/test/exact/dlang.d"

# The assembler makes line tables of its own.
mkdir assembly
for source in "${lua_sources[@]}"; do
    gcc -std=gnu99 -DLUA_USE_POSIX -w -O1 -S "$source" -o "assembly/$(basename "$source" .c).s" ||
        fail "'$source' does not compile"
done
program lua-assembler gcc -g -lm assembly/*.s

# As it is built: without debug information in some of the libraries that come with it.
cp -a redis redis-clang
step make -j2 -C redis/src redis-server redis-cli MALLOC=libc
step make -j2 -C redis-clang/src redis-server redis-cli MALLOC=libc CC=$clang DEBUG=-gdwarf-4 \
    OPT='-O2 -ffunction-sections' REDIS_LDFLAGS='-fuse-ld=lld -Wl,--gc-sections -Wl,--icf=all'
for which in redis redis-clang; do
    for binary in redis-server redis-cli; do
        cp $which/src/$binary $which.$binary
        tries+=("$which.$binary")
    done
done
compare_lines
for binary in lua-gcc-4 lua-gcc-5 lua-lto pugixml-gcc-4 redis.redis-cli; do
    apart $binary
done
for binary in pugixml-gcc-5 pugixml-clang-5 blas; do
    compressed $binary # older dwz know neither type units of DWARF 5 nor .debug_addr
done

# By quipu: in the binary are the runtime and what is inserted, and in the report what was there.
tries=()
lua quipu quipu-cc '-O2' ''
lua quipu-split quipu-cc '-O2 -gsplit-dwarf' ''
lua quipu-lto quipu-cc '-O2 -flto' ''
lua quipu-clang quipu-clang '-O2' ''
lua quipu-icf quipu-cc '-ffunction-sections' '-fuse-ld=gold -Wl,--gc-sections -Wl,--icf=all'
pugixml quipu quipu-c++ '-fdebug-types-section' ''
compare_lines
for binary in "${tries[@]}"; do
    (cd pugixml && QUIPU_DATA=../$binary.data ../"$binary" -v) >/dev/null 2>&1 || fail "'$binary' fails"
    reported "$binary" "$binary.data"
done

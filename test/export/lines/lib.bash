# lib.bash: builds of one program in many ways, for the tests of lines; those beside lines.py.
parts=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tries=()
needs addr2line objdump llvm-addr2line llvm-dwarfdump clang clang++ dwz
LLVM_ADDR2LINE=$(the_one llvm-addr2line)
LLVM_DWARFDUMP=$(the_one llvm-dwarfdump)
export LLVM_ADDR2LINE LLVM_DWARFDUMP
clang=$(the_one clang)

# Makes ./line_of.
build_line_of() {
    # shellcheck disable=SC2086
    gcc ${BUILD_FLAGS:-} -std=c11 -D_GNU_SOURCE -I"$root/src" "$parts/line_of.c" \
        "$(dirname "$quipu")"/../obj/src/*/{,*/}*.o -lZydis -lZycore -ldw -lelf -lzstd -lz -liberty \
        -o line_of
}

# compile_parts C C++ FLAGS...: the objects, one of them without debug information.
compile_parts() {
    local c=$1 cxx=$2
    shift 2
    $c -g "$@" -c "$parts/ends.c" "$parts/main.c"
    $c -g0 "${@/#-gdwarf*/-g0}" -c "$parts/plain.c"
    $cxx -g "$@" -c "$parts/objects.cc"
    $cxx "$@" -g -O1 -c "$parts/others.cc"
}

# try NAME FAMILY FLAGS LINK_FLAGS: builds NAME with all in it; compare_lines looks at it.
try() {
    local name=$1 c=gcc cxx=g++ flags link
    read -ra flags <<<"$3"
    read -ra link <<<"$4"
    [ "$2" = gcc ] || c=$clang cxx=${clang/clang/clang++}
    compile_parts $c $cxx "${flags[@]}"
    $cxx "${flags[@]}" main.o ends.o plain.o objects.o others.o "${link[@]}" -o "$name"
    tries+=("$name")
}

# program NAME COMPILER FLAGS LINK_FLAGS SOURCE...: builds NAME of sources, and every fourth of them
# without debug information.
program() {
    local name=$1 compiler=$2 source part=0 flags link without
    read -ra flags <<<"$3"
    read -ra link <<<"$4"
    shift 4
    mkdir -p "$name.objects"
    for source; do
        part=$((part + 1)) without=()
        ((part % 4 != 3)) || without=(-g0)
        $compiler "${flags[@]}" "${without[@]}" -c "$source" -o "$name.objects/$part.o" 2>"$name.log" ||
            fail "$name: '$source' does not compile: $(tail -n 5 "$name.log")"
    done
    $compiler "${flags[@]}" "$name.objects"/*.o "${link[@]}" -o "$name" 2>"$name.log" ||
        fail "$name does not link: $(tail -n 5 "$name.log")"
    tries+=("$name")
}

# reported BINARY DATA: instructions of BINARY, which ran, have their lines in the report of DATA.
reported() {
    quipu report --by=instruction --format=json "$2" >"$1.json" || fail "no report of '$1'"
    python3 "$parts/lines.py" --report="$1.json" "$1" >lines.txt ||
        fail "lines in the report differ from addr2line's: $(cat lines.txt)"
    ! grep -E ' [0-9]{1,3} with lines' lines.txt || fail "too few lines to compare"
}

# Compares all that were built.
compare_lines() {
    python3 "$parts/lines.py" ./line_of "${tries[@]}" >lines.txt ||
        fail "lines differ from addr2line's: $(cat lines.txt)"
    ! grep -E ' [0-9]{1,2} with lines' lines.txt || fail "too few lines to compare"
}

# quipu_parts FLAGS...: ./counted, of the same objects, by quipu, but for ends.o: what is inserted
# comes behind the last line, too.
quipu_parts() {
    compile_parts "$quipu cc" "$(dirname "$quipu")/quipu-c++" "$@"
    gcc -g "$@" -c "$parts/ends.c"
    "$(dirname "$quipu")/quipu-c++" main.o ends.o plain.o objects.o others.o -o counted
}

# alike NAME BINARY: the code is NAME's, and has its lines.
alike() {
    [ -e "$1.lines" ] || {
        objdump -d --no-show-raw-insn -w "$1" | sed -n 's/^ *\([0-9a-f]*\):\t.*/0x\1/p' >"$1.addresses"
        ./line_of "$1" <"$1.addresses" >"$1.lines"
        [ "$(grep -cv '^?' "$1.lines")" -ge 100 ] || fail "'$1': too few lines to compare"
    }
    ./line_of "$2" <"$1.addresses" >"$2.lines" || fail "'$2': not read"
    cmp -s "$1.lines" "$2.lines" ||
        fail "'$2': other lines than those of '$1': $(diff "$1.lines" "$2.lines" | head -n 5)"
}

# compressed NAME: what tools make of NAME has the same lines: debug information that is compressed,
# each way that objcopy knows, and in a file of its own.
compressed() {
    local way
    for way in zlib zlib-gnu zstd; do
        objcopy --compress-debug-sections=$way "$1" "$1.$way" || fail "objcopy knows no $way"
        alike "$1" "$1.$way"
        mkdir -p "$way"
        objcopy --only-keep-debug "$1.$way" "$way/code.debug"
        objcopy --strip-debug --add-gnu-debuglink="$way/code.debug" "$1" "$way/code"
        alike "$1" "$way/code"
    done
}

# apart NAME: that, and without what is there twice.
apart() {
    compressed "$1"
    cp "$1" "$1.first"
    cp "$1" "$1.second"
    dwz -m "$1.common" "$1.first" "$1.second" || fail "dwz fails"
    grep -q gnu_debugaltlink < <(readelf -S -W "$1.first") || fail "dwz puts nothing into a common file"
    alike "$1" "$1.first"
}

# damaged NAME: compressed debug information that cannot be read is told, and the rest is.
damaged() {
    local offset
    offset=$(readelf -S -W "$1.zstd" | sed -n 's/.* \.debug_line  *PROGBITS  *0* \([0-9a-f]*\) .*/\1/p')
    cp "$1.zstd" "$1.damaged"
    printf '%0100d' 0 | dd of="$1.damaged" bs=1 seek=$((0x$offset + 24)) conv=notrunc status=none
    echo 0x1000 | ./line_of "$1.damaged" >damaged.out 2>&1
    grep -q "^quipu: warning: '$1.damaged': its debug information cannot be decompressed" damaged.out ||
        fail "damaged debug information: $(cat damaged.out)"
}

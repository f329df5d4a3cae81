# lib.bash: builds of one program in many ways, for the tests of lines; those beside lines.py.
parts=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tries=()

# Makes ./line_of.
build_line_of() {
    # shellcheck disable=SC2086
    gcc ${BUILD_FLAGS:-} -std=c11 -D_GNU_SOURCE -I"$root/src" "$parts/line_of.c" \
        "$(dirname "$quipu")"/../obj/src/*/*.o -lZydis -lZycore -ldw -lelf -lzstd -lz -liberty \
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
    [ "$2" = gcc ] || c=clang-14 cxx=clang++-14
    compile_parts $c $cxx "${flags[@]}"
    $cxx "${flags[@]}" main.o ends.o plain.o objects.o others.o "${link[@]}" -o "$name"
    tries+=("$name")
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

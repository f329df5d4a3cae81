# lib.bash: what the tests of this folder share.  Each is a script that exits 0 where it passes and
# says why where it does not.  QUIPU_BUILD is the build directory (default: build).

set -euo pipefail
export LC_ALL=C
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
quipu=$(realpath -m "${QUIPU_BUILD:-$root/build}/bin/quipu")
program=$here/program
. "$root/test/needs.sh.inc"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
unset QUIPU_DATA

fail() {
    echo "$(basename "$0"): $*" >&2
    exit 1
}

[ -x "$quipu" ] || fail "'$quipu' is not there; run 'make' first"

# build_program NAME ARGS...: the program of this folder, made with 'quipu cc ARGS'.
build_program() {
    local name=$1
    shift
    "$quipu" cc -g "$@" "$program/main.c" "$program/table.c" -o "$name"
}

# run_program NAME DATA ARGS...: runs it with its data in DATA.
run_program() {
    local name=$1 data=$2
    shift 2
    QUIPU_DATA=$data "./$name" "$@" >/dev/null
}

# expect_error STATUS TEXT COMMAND...: it ends with STATUS and one line on standard error that
# holds TEXT.
expect_error() {
    local status=$1 text=$2 got=0
    shift 2
    "$@" >stdout.txt 2>stderr.txt || got=$?
    [ "$got" = "$status" ] || fail "'$*' ended with $got, not $status: $(cat stderr.txt)"
    grep -qF -- "$text" stderr.txt || fail "'$*' does not say '$text' but: $(cat stderr.txt)"
    [ "$(wc -l <stderr.txt)" = 1 ] || fail "'$*' says more than one line: $(cat stderr.txt)"
}

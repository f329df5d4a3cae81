#!/bin/bash
# What cannot be written ends in one error that names it and says why: an object file while
# assembling, where the assembler's own message comes through and nothing is assembled in its place,
# and whatever a command prints or makes.
. "$(dirname "$0")/lib.bash"

# A disk of our own, in a mount namespace that goes with us.
if [[ ! -v QUIPU_ON_DISK ]]; then
    namespace=(unshare --mount)
    [[ $(id -u) -eq 0 ]] || namespace+=(--user --map-root-user)
    QUIPU_ON_DISK=1 exec "${namespace[@]}" "$0" "$@"
fi
mkdir disk
mount -t tmpfs -o size=64k none disk || fail "cannot mount a small disk"

make_program program -O1 -g --quipu=count,event <<<'int main(void) { return 0; }'
make_program calls -O1 -g --quipu=calls <<<'int main(void) { return 0; }'
make_program watched -O1 -g --quipu=watch <<<'int value; int main(void) { value = 1; return 0; }'
./program
QUIPU_DATA=calls.data ./calls
dd if=/dev/zero of=disk/full bs=4k status=none 2>messages && fail "the disk is not full"

# ---- assembling ----

plain=$(gcc -c program.c -o disk/program.o 2>&1)
[[ $plain == *"No space left on device"* ]] || fail "a plain compiler: $plain"
for strict in "" 1; do
    [[ -z $strict ]] || export QUIPU_STRICT=1
    for pipe in "" -pipe; do
        # shellcheck disable=SC2086
        ends 1 quipu cc $pipe -c program.c -o disk/program.o
        grep -q "program.o.*No space left on device" messages || fail "$(cat messages)"
        ! grep -q quipu messages || fail "a fault of ours is told: $(cat messages)"
        [[ ! -e disk/program.o ]] || fail "an object was made"
    done
    refuses "cannot write '$PWD/disk/quipu" "No space left on device" "TMPDIR" -- \
        env TMPDIR="$PWD/disk" quipu cc -pipe -c program.c -o program.o
done
unset QUIPU_STRICT
[[ $(ls disk) == full ]] || fail "temporary files are left: $(ls disk)"

# ---- commands ----

# loses NAME COMMAND...: standard output is full, or what -o names
loses() {
    refuses "cannot write $1: No space left on device" -- "${@:2}"
}
full() {
    "$@" >/dev/full
}
for words in report "report --by=instruction" "report --format=json" "report --format=csv" annotate \
    "annotate --asm" info "info --format=json" "stat --data" "stat --data --format=json" \
    "diff quipu.data quipu.data" "diff --format=json quipu.data quipu.data" "export --to=callgrind" \
    "export --to=lcov" "export --to=cobertura" "export --to=gcov-json" "export --to=json" \
    "export --to=collapsed calls.data" "export --to=pprof calls.data" "report --by=callsite calls.data" \
    --help --version "report --help" "watch --help" "when --help"; do
    # shellcheck disable=SC2086
    loses "standard output" full quipu $words
done
for words in report annotate info "export --to=json" "stat --data"; do
    # shellcheck disable=SC2086
    loses "'disk/out'" quipu $words -o disk/out
    # shellcheck disable=SC2086
    loses "'disk/out.gz'" quipu $words -o disk/out.gz
done
loses "'disk/sum.quipu'" quipu merge -o disk/sum.quipu quipu.data
loses "'disk/log'" quipu watch --log=disk/log -e value -- ./watched
loses "'disk/log'" quipu watch --summary --log=disk/log -e value -- ./watched
loses "'disk/before'" quipu stat -o disk/before -- ./program
[[ $(ls disk) =~ ^(full|log|out|out.gz|before|[[:space:]])*$ ]] || fail "left on the disk: $(ls disk)"

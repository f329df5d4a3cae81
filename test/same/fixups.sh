#!/bin/bash
# Instructions that fault, which tables of inline assembly name: the handler finds them in every mode, and
# events are as many as are counted.  And code that the program changes where tables say.
set -uo pipefail
source=$(cd "$(dirname "$0")/../exact" && pwd)/fixups.c
keys=$(dirname "$0")/parts/keys.c
patched=$(cd "$(dirname "$0")/../exact" && pwd)/patched.c

fail() {
    printf '%s\n' "$(basename "$0"): $*"
    exit 1
}

gcc -O2 "$source" -o plain && ./plain >plain.out || fail "plain: status $?"
gcc -O2 "$keys" -o keys && ./keys >keys.plain || fail "plain keys: status $?"
for flags in -O0 -O2 '-O2 -fPIC' '-O3 --quipu-placement=block'; do
    for mode in count event moment calls watch count,event,watch; do
        # watch leaves functions alone whose stores must stay where they are, and says so
        # shellcheck disable=SC2086
        quipu cc --quipu=$mode $flags "$source" -o $mode 2>messages || fail "$mode $flags: $(cat messages)"
        ./$mode >$mode.out || fail "$mode $flags: status $?, behind '$(tail -n 1 $mode.out)'"
        diff plain.out $mode.out >differences || fail "$mode $flags: $(cat differences)"
        # shellcheck disable=SC2086
        quipu cc --quipu=$mode $flags "$keys" -o keys 2>messages || fail "keys, $mode $flags: $(cat messages)"
        ./keys >keys.out || fail "keys, $mode $flags: status $?"
        diff keys.plain keys.out >differences || fail "keys, $mode $flags: $(cat differences)"
        # a jump that is told leaves no place for a counter on its way
        grep -v "'uses_jumps': an instruction whose address is recorded" messages >others
        [[ -s others ]] && fail "keys, $mode $flags: $(cat others)"
    done
    rm -rf data
    quipu run -o data -- ./count >/dev/null || fail "$flags: not run"
    counted=$(quipu report --limit=1 data | sed -n '1s/.* \([0-9]*\) instructions executed$/\1/p')
    quipu stat -o events -- ./event >/dev/null || fail "$flags: no events"
    grep -qE "^ *$counted  instructions" events || fail "$flags: $counted instructions counted, events: $(cat events)"
done

# No-operations at functions' begins, which the program writes over.
for mode in count event moment calls watch; do
    for flags in '-O0 -fpatchable-function-entry=7,2' '-O2 -fPIC -fcf-protection -fpatchable-function-entry=5' \
        '-O2 -fno-pie -no-pie -pg -mfentry -mrecord-mcount -mnop-mcount -DCOUNTED'; do
        # shellcheck disable=SC2086
        quipu cc --quipu=$mode $flags "$patched" -o patched || fail "patched, $mode $flags"
        ./patched >patched.out || fail "patched, $mode $flags: status $?"
        grep -q '^1 1 1 0 of [46] wrong$' patched.out || fail "patched, $mode $flags: $(cat patched.out)"
    done
done

# A note that nobody loads tells of a no-operation.
cat >probe.c <<'EOP'
__attribute__((noinline)) static int probed(int n) {
    for (int i = 0; i < n; i++)
        __asm__ volatile("990: nop; .pushsection .note.probes,\"\",\"note\"; .8byte 990b; .popsection");
    return n;
}
int main(int argc, char **argv) { return probed(argc) - 1 + !argv; }
EOP
for mode in count event moment calls watch; do
    quipu cc --quipu=$mode -O2 -no-pie probe.c -o probe && ./probe || fail "probe, $mode: status $?"
    objcopy -O binary -j .note.probes --set-section-flags .note.probes=alloc probe note
    addresses=$(od -An -v -w8 -tx8 note) # one for each copy that the compiler makes
    [[ -n $addresses ]] || fail "probe, $mode: no address"
    for address in $addresses; do
        objdump -d --no-show-raw-insn --start-address="0x$address" --stop-address=$((0x$address + 1)) probe >code
        grep -qE ':[[:space:]]+nop *$' code || fail "probe, $mode: $(cat code)"
    done
done

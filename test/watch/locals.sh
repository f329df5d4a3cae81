#!/bin/bash
# Locals and parameters: each activation has its own, up to its end, by whatever way.
. "$(dirname "$0")/lib.bash"
source=$top/test/watch/parts/locals.cc

# locals NAME... -- CASE: what is told, as "name new"; but pushes of a function's begin.
locals() {
    local names=()
    while [[ $1 != -- ]]; do
        names+=(-e "$1")
        shift
    done
    watches 0 --format=json "${names[@]}" -- ./program "$2"
    ./program "$2" >alone
    [[ $2 == rooms || $2 == fields ]] || cmp -s output alone ||
        fail "$variant, $2: another result: $(cat output alone)"
    python3 - <<'EOP' >told || fail "$variant, $2: $(cat told hits)"
import json
for line in open('hits'):
    hit = json.loads(line)
    if hit['instruction'].startswith('push'):
        continue
    print(hit['name'], hit['new'])
    function = hit['name'].split('::')[0]
    assert hit['function'].split('(')[0] == function or function == 'fields', hit
EOP
}

# are NEW...: these hits, in this order; sorted: in any.
are() {
    printf '%s\n' "$@" >expected
    diff expected told >difference || fail "$variant, $what: $(cat difference)"
}

check() {
    what=$1
    locals "${@:2}" -- "$1"
}

check_all() {
    check recurse recurse::x
    are 'recurse::x 3' 'recurse::x 2' 'recurse::x 1' 'recurse::x 0' 'recurse::x 1' \
        'recurse::x 12' 'recurse::x 123'
    check caught leave::x
    are 'leave::x 12' 'leave::x 11' 'leave::x 10' 'leave::x 2' 'leave::x 1' 'leave::x 0' \
        'leave::x 100' 'leave::x 101' 'leave::x 102'
    check jumped leave::x
    are 'leave::x 22' 'leave::x 21' 'leave::x 20'
    check signalled leave::x
    are 'leave::x 31' 'leave::x 30' 'leave::x 1' 'leave::x 0' 'leave::x 100' 'leave::x 101'
    check tail tail::t last::x
    are 'tail::t 1' 'tail::t 2' 'last::x 2'
    check many many::r
    are 'many::r 1' 'many::r 2' 'many::r 3' 'many::r 30' 'many::r 4' 'many::r 5' 'many::r 10'
    check rooms rooms::a
    are 'rooms::a 3' 'rooms::a 6'
    check takes 'takes::wide.of[2..3]'
    are 'takes::wide.of[2] 20' 'takes::wide.of[3] 21'
    check fields fields::at.y 'fields::buffer[4..7]'
    are 'fields::at.y 4' 'fields::buffer[4] 3' 'fields::at.y 5' 'fields::buffer[7] 1'
    check coroutines turn::x
    are 'turn::x 0' 'turn::x 1' 'turn::x 10' 'turn::x 11' 'turn::x 20' 'turn::x 21'
    check ended leave::x
    are 'leave::x 41' 'leave::x 40'
    check forked forked::x recurse::x
    are 'forked::x 1' 'forked::x 2' 'recurse::x 1' 'recurse::x 0' 'recurse::x 1' 'forked::x 3'
    check threads many::r
    sort -o told told
    for i in 1 2 3 4; do
        for k in 1 2 3 4; do
            printf 'many::r %d\nmany::r %d\n' "$i$k" $((2 * 10 * i + 2 * k))
        done
    done | sort >expected
    diff expected told >difference || fail "$variant, threads: $(cat difference)"
}

while read -r compiler options; do
    variant="$compiler $options"
    command -v "${compiler#quipu-}" >/dev/null || [[ $compiler == quipu-c++ ]] || continue
    # shellcheck disable=SC2086
    "${quipu%/*}/$compiler" --quipu=watch -g -w -pthread $options "$source" -o program ||
        fail "$variant: cannot build"
    check_all
done <<'EOT2'
quipu-c++ -O2
quipu-c++ -O0
quipu-c++ -O2 -fcf-protection -fno-omit-frame-pointer
quipu-c++ -Os -fno-pie -no-pie
quipu-c++ -O2 -masm=intel -static
quipu-clang++ -O0
quipu-clang++ -O2
EOT2

# What has no place.
cat >registers.c <<'EOP'
int used;
static inline __attribute__((always_inline)) int inlined(int n) { volatile int kept = n; return kept; }
__attribute__((noinline)) int f(int n) { int i, sum = 0; for (i = 0; i < n; i++) sum += i * used; return sum; }
__attribute__((noipa)) int aligned(int n) { _Alignas(64) volatile char room[64]; volatile int x = n; room[n] = 1; return x + room[3]; }
__attribute__((cold, noinline)) void rare(int *p) { used += *p; }
__attribute__((noinline)) int split(int n) { volatile int kept = n; if (n > 1000) { int v = kept; rare(&v); rare(&v); } return kept; }
__attribute__((noinline)) int varies(int n) { int a[n]; for (int i = 0; i < n; i++) a[i] = i * used; return a[n / 2]; }
int main(int argc, char **argv) { int *p = &used; used = varies(argc + 4) + split(argc); used += f(argc) + inlined(argc) + *p + aligned(3); return 0; }
EOP
"$quipu" cc --quipu=watch -g -O2 registers.c -o registers || fail "cannot build 'registers'"
wrong() {
    ends 1 quipu watch -e "$2" -- ./registers
    grep -qF "$1" messages || fail "'$2': not '$1': $(cat messages)"
}
wrong "its value is in a register" f::sum
wrong "array of variable length" varies::a
nm registers | grep -q ' split\.cold' || fail "no function is in two parts"
watches 0 -e split::kept -- ./registers
[[ $(wc -l <hits) == 1 ]] || fail "split: $(cat hits)"
wrong "in a way that is not understood" aligned::x
"$quipu" cc --quipu=watch -g -O0 registers.c -o registers || fail "cannot build 'registers'"
wrong "did you mean 'f::sum'" f::sun
wrong "is local to a function; write 'f::sum'" sum
wrong "where a local or thread-local variable points to" '*main::p'
watches 0 --limit 2 -e f::sum -- ./registers
[[ $(wc -l <hits) == 2 ]] || fail "limit: $(cat hits)"

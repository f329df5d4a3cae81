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
    has "${compiler#quipu-}" || continue
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
__attribute__((noinline)) int settled(volatile int n) { n = n * 2; n++; return n; }
__attribute__((noinline)) int later(void) { volatile int i = used; return i; }
int main(int argc, char **argv) { int *p = &used; used = settled(argc) + later(); used = varies(argc + 4) + split(argc); used += f(argc) + inlined(argc) + *p + aligned(3); return 0; }
EOP
"$quipu" cc --quipu=watch -g -O2 registers.c -o registers || fail "cannot build 'registers'"
wrong() {
    ends 1 quipu watch -e "$2" -- ./registers
    grep -qF "$1" messages || fail "'$2': not '$1': $(cat messages)"
}
wrong "its value is in a register" f::sum
wrong "array of variable length" varies::a
wrong "did you mean 'f::sum'" f::sun
wrong "did you mean 'f::sum'" ff::sum
wrong "'i' is local to a function; write 'later::i'" i
for name in inlined split; do wrong "'$name::kept'" registers.c:kept; done
wrong "did you mean 'varies::n'" varis::n
wrong "did you mean 'f::sum'" sun
wrong "its value is in a register; build it with -O0" settled::n
! grep -q "declare it volatile" messages || fail "it is volatile: $(cat messages)"
nm registers >symbols && grep -q ' split\.cold' symbols || fail "no function is in two parts"
watches 0 -e split::kept -- ./registers
[[ $(wc -l <hits) == 1 ]] || fail "split: $(cat hits)"
wrong "aligns that anew in each call" aligned::x
"$quipu" cc --quipu=watch -g -O0 registers.c -o registers || fail "cannot build 'registers'"
wrong "did you mean 'f::sum'" f::sun
wrong "is local to a function; write 'f::sum'" sum
for name in f varies later; do wrong "'$name::i'" i; done
wrong "where a local or thread-local variable points to" '*main::p'
watches 0 --limit 2 -e f::sum -- ./registers
[[ $(wc -l <hits) == 2 ]] || fail "limit: $(cat hits)"

# What clang counts from the stack pointer: one place in all of the body, whatever is pushed there and
# wherever in the line table the function stands.
cat >counted.c <<'EOP'
int used;
__attribute__((noinline)) void g(int n) { used += n; __asm__ volatile("nop"); }
__attribute__((noinline)) int many(int a, int b, int c, int d, int e, int f, int g, int h) { __asm__ volatile(""); return a + b + c + d + e + f + g + h; }
__attribute__((noinline)) void late(int n) { if (n < 0) return; volatile int v = n; g(n); v = v + 1; g(v); }
__attribute__((noinline)) int recurses(int n) { volatile int v = n; if (n > 0) recurses(n - 1); v = v + 100; return v; }
__attribute__((noinline)) int pushes(int n) { volatile int v = n; v = many(1, 2, 3, 4, 5, 6, 7, 8); v = v + 1; return v; }
#define CALLS(name) __attribute__((noinline)) int name(int n) { \
    volatile int v = n; \
    if (n > 2) { g(1); return 0; } \
    g(n); \
    v = 9; \
    return v; }
CALLS(a) CALLS(b) CALLS(c) CALLS(d) CALLS(e) CALLS(f) CALLS(h) CALLS(i) CALLS(j)
#define RED(name) __attribute__((noinline)) int name(int n) { volatile int x = n; x = x + used; return x; }
RED(k) RED(l) RED(m) RED(o) RED(p) RED(q) RED(r) RED(s) RED(t)
int main(int argc, char **argv) { late(argc); used = recurses(1) + pushes(argc);
    used = a(1) + b(1) + c(1) + d(1) + e(1) + f(1) + h(1) + i(1) + j(1);
    used = 5; k(3); l(3); m(3); o(3); p(3); q(3); r(3); s(3); t(3); return 0; }
EOP
for level in -O1 -O2 -Os; do
    has clang || break
    "${quipu%/*}/quipu-clang" --quipu=watch -g "$level" counted.c -o registers || fail "cannot build 'counted'"
    what=$level
    while read -r names news; do
        for name in ${names//,/ }; do
            variant=$name
            watches 0 --format=json -e "$name" -- ./registers
            grep -v '"instruction":"push' hits | sed -E 's/.*"new":"([^"]*)".*/\1/' >told
            # shellcheck disable=SC2086
            are $news
        done
    done <<'EOT2'
recurses::v 1 0 100 101
pushes::v 1 36 37
a::v,b::v,c::v,d::v,e::v,f::v,h::v,i::v,j::v 1 9
k::x,l::x,m::x,o::x,p::x,q::x,r::x,s::x,t::x 3 8
EOT2
    wrong "makes on some of its ways only" late::v
done

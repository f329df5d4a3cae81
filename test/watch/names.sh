#!/bin/bash
# What can be named beside the program's globals and locals: variables of shared objects, with and
# without checks, also of those that are opened later; thread-local variables; what a cast leads to;
# locals of functions that were inlined.
. "$(dirname "$0")/lib.bash"
parts=$top/test/watch/parts
ours=("$quipu" cc --quipu=watch)

build() { "$@" || fail "cannot build: $*"; }
build gcc -g -O1 -shared -fPIC "$parts/names_library.c" -o libplain.so
build "${ours[@]}" -g -O1 -shared -fPIC "$parts/names_library.c" -o libours.so
build "${ours[@]}" -g -O1 -shared -fPIC -DLATE "$parts/names_library.c" -o late.so
build gcc -g -O1 -shared -fPIC -DLATE "$parts/names_library.c" -o foreign.so
build gcc -O1 -shared -fPIC "$parts/names_library.c" -o libbare.so
for kind in plain ours bare; do
    build "${ours[@]}" -g -O1 -pthread "$parts/names.c" -o $kind -L. -l$kind -Wl,-rpath,"$PWD"
done
build "${ours[@]}" -g -O1 -pthread -no-pie -Wl,-z,now,-z,relro "$parts/names.c" -o fixed -L. -lours \
    -Wl,-rpath,"$PWD"

# see PROGRAM CASE NAME...: hits, as "name old -> new"
see() {
    local names=()
    for name in "${@:3}"; do names+=(-e "$name"); done
    # shellcheck disable=SC2086
    watches 0 "${names[@]}" -- "./$1" $2
}
# function NAME...: who wrote, hit by hit
functions() {
    sed -E 's/.*\)  +([a-z_]+)  .*/\1/; t; s/.*/?/' hits >told
    printf '%s\n' "$@" >expected
    diff expected told >difference || fail "writers differ: $(cat difference hits)"
}

# shared objects
see plain library hidden
tells 'hidden 0 -> 1' 'hidden 1 -> 3' 'hidden 3 -> 6'
grep -q 'changed during the call' hits || fail "$(cat hits)"
see ours library hidden
tells 'hidden 0 -> 1' 'hidden 1 -> 3' 'hidden 3 -> 6'
functions enter enter enter
see fixed library hidden
functions enter enter enter
see plain library copied
tells 'copied 1 -> 7' 'copied 7 -> 8' 'copied 8 -> 10' 'copied 10 -> 13'
for program in ours fixed; do
    see $program library libours.so:copied
    tells 'libours.so:copied 1 -> 7' 'libours.so:copied 7 -> 8' 'libours.so:copied 8 -> 10' \
        'libours.so:copied 10 -> 13'
    functions main enter enter enter
    see $program library keep::kept
    functions keep keep
    watches 0 --follow -e 'copied_head->value' -- ./$program library
    tells 'copied_head->value 0 -> 101' 'copied_head->value 101 -> 2' 'copied_head->value 1 -> 102' \
        'copied_head->value 102 -> 3' 'copied_head->value 2 -> 103'
    watches 0 --if 'copied > 8' -e hidden -- ./$program library
    tells 'hidden 3 -> 6'
done
see ours library libours.so:names_library.c:both
tells 'libours.so:names_library.c:both 0 -> 1' 'libours.so:names_library.c:both 1 -> 2' \
    'libours.so:names_library.c:both 2 -> 3'
see ours types both
tells 'both 0 -> 1'
see ours "late $PWD/late.so" "$PWD/late.so:only_late"
sed -i '/(changed during the call)/d' hits # by dlopen, which loads it anew
tells "$PWD/late.so:only_late 0 -> 1" "$PWD/late.so:only_late 0 -> 2" "$PWD/late.so:only_late 0 -> 3"
functions enter enter enter

build "${ours[@]}" -g -O1 -pthread -gsplit-dwarf "$parts/names.c" -o split -L. -lours -Wl,-rpath,"$PWD"
if has clang; then
    build "${quipu%/*}/quipu-clang" --quipu=watch -g -O1 -pthread "$parts/names.c" -o clang -L. -lours \
        -Wl,-rpath,"$PWD"
fi

# a program without checks, with a shared object that has them
build gcc -g -O1 -pthread "$parts/names.c" -o foreign -L. -lours -Wl,-rpath,"$PWD"
see foreign library hidden keep::kept
grep -qx 3 < <(grep -c ' enter ' hits) || fail "foreign: $(cat hits)"
see foreign "late $PWD/late.so" "$PWD/late.so:only_late"
grep -q ' enter ' hits || fail "foreign, late: $(cat hits)"
refuses "only in a program that was built" -- quipu watch -e 'head->value' -- ./foreign library
build gcc -g -O1 -pthread "$parts/names.c" -o none -L. -lplain -Wl,-rpath,"$PWD"
refuses "not built with 'quipu cc --quipu=watch'" -- quipu watch -e hidden -- ./none library

# threads
for program in ours fixed split clang; do
    [[ -x $program ]] || continue
    see $program threads own
    tells 'own 5 -> 6' 'own 5 -> 5' 'own 5 -> 15' 'own 5 -> 25' 'own 5 -> 35' 'own 6 -> 7'
    see $program threads 'room.spots[1]' 'text[4]'
    tells 'room.spots[1].y 0 -> 5' "text[4] 't' (116) -> 'r' (114)" 'room.spots[1].y 0 -> 15' \
        "text[4] 't' (116) -> 'r' (114)" 'room.spots[1].y 0 -> 25' "text[4] 't' (116) -> 'r' (114)" \
        'room.spots[1].y 0 -> 35' "text[4] 't' (116) -> 'r' (114)"
done

build "${ours[@]}" -g -O1 -pthread -static "$parts/names.c" "$parts/names_library.c" -o static 2>/dev/null
see static threads own
tells 'own 5 -> 6' 'own 6 -> 7'
grep -q 'only the main thread' messages || fail "static: $(cat messages)"
cat >threads.cc <<'EOT'
#include <memory>
#include <thread>
#include <vector>
thread_local int own = 1;
namespace of {
thread_local long other;
std::unique_ptr<int> owner;
__int128 huge;
std::vector<std::vector<std::unique_ptr<int>>> rooms;
template <class T> __attribute__((noinline)) void fill(std::vector<std::vector<T>> &all) { all.resize(1); huge += all.size(); }
}
int main() {
    for (int i = 0; i < 3; i++) std::thread([i] { own += i; of::other = own; }).join();
    of::huge = (__int128)1 << 100;
    of::owner = std::make_unique<int>(3);
    of::fill(of::rooms);
}
EOT
build "${quipu%/*}/quipu-c++" --quipu=watch -g -O1 -pthread threads.cc -o threads
see threads '' own of::other
tells 'own 1 -> 1' 'of::other 0 -> 1' 'own 1 -> 2' 'of::other 0 -> 2' 'own 1 -> 3' 'of::other 0 -> 3'

see threads '' of::huge owner
sed -E 's/^ *[0-9]+:  //; s/0x[0-9a-f]{11,14} /0x7f /; s/  +/ /g' hits >told
grep -qxF 'of::huge 0x0 -> 0x10000000000000000000000000 (__int128) main threads.cc:14 mov %rdx, of::huge+0x8(%rip)' \
    told || fail "huge: $(cat told)"
grep -q '^owner._M_t._M_t._M_head_impl 0x0 -> 0x7f (int \*) main' told || fail "owner: $(cat told)"
grep -q '(__int128) of::fill<...>(...) threads.cc:10' told || fail "fill: $(cat told)"

# a process that runs already
mkfifo input
for program in plain ours; do
    rm -f said
    ./$program turn <input >said 2>&1 &
    process=$!
    exec 7>input
    until grep -q ready said 2>/dev/null; do sleep 0.01; done
    quipu watch --log=hits --pid $process --limit 6 -e hidden -e copied -e 'head->value' -e own 2>warned 7>&- &
    watcher=$!
    until grep -q quipu-watch /proc/$process/maps; do sleep 0.01; done
    for _ in 1 2; do
        echo >&7
        sleep 0.1
    done
    ends 1 quipu watch --pid $process -e hiden 7>&-
    exec 7>&-
    wait $watcher || fail "--pid: $(cat hits)"
    tells 'hidden 0 -> 1' 'copied 1 -> 2' 'head->value 0 -> 1' 'own 5 -> 6' 'hidden 1 -> 2' \
        'copied 2 -> 3'
    wait $process || fail "the process: $?"
    grep -q "'own': threads that begin from now on" warned || fail "no warning: $(cat warned)"
done

./plain turn <input >said 2>&1 &
process=$!
exec 7>input
until grep -q ready said 2>/dev/null; do sleep 0.01; done
rm libplain.so
build gcc -g -O2 -shared -fPIC -DLATE "$parts/names_library.c" -o libplain.so
ends 1 quipu watch --pid $process -e libplain.so:hidden 7>&-
grep -q "of another build than what the process has loaded" messages || fail "$(cat messages)"
exec 7>&-
wait $process || fail "harmed: $?"

# casts
see ours types '((struct point *)anything)->y' '(*(place *)anything).x' '*(int *)&real'
tells '((struct point *)anything)->y 2 -> 9' '(*(place *)anything).x 1 -> 77' '*(int *)&real 0 -> 0'
watches 0 --follow -e '*(unsigned int *)address' -- ./ours types
tells '*(unsigned int *)address 1 -> 77'
watches 0 --if '(int)real == 1 && (unsigned char)new == 9' -e at.y -- ./ours types
tells 'at.y 2 -> 9'
see ours types 'anything[4..7]'
tells 'anything[4..7] {0x2, 0x0, 0x0, 0x0} -> {0x9, 0x0, 0x0, 0x0}'
address=$(nm fixed | sed -n 's/^0*\([0-9a-f]*\) . at$/0x\1/p')
see fixed types "((struct point *)$address)->y" "((int *)$address)[0..1]"
tells "((struct point *)$address)->y 2 -> 9" "((int *)$address)[1] 2 -> 9" \
    "((int *)$address)[0] 1 -> 77"

# what is inlined
see ours inlined inlined::kept
functions user user main main

# what cannot be
# wrong TEXT NAME [PROGRAM]: refused with TEXT, not started
wrong() {
    ends 1 quipu watch -e "$2" -- "./${3:-ours}" library
    [[ ! -s output ]] || fail "'$2': started: $(cat output)"
    [[ $(wc -l <messages) -eq 3 ]] || fail "'$2': $(cat messages)"
    [[ $(sed -n 1p messages) == "quipu: error: "*"$1"* ]] || fail "'$2': not '$1': $(cat messages)"
}
wrong "did you mean 'hidden'? (in 'libours.so')" hiden
wrong "did you mean 'hidden'" libours.so:hiden
wrong "did you mean 'libours.so'" libour.so:hidden
wrong "no such file" nowhere.so:hidden
wrong "thread-local in a shared object" libours.so:in_library
wrong "does not tell of its calls" libplain.so:keep::kept plain
wrong "no debug information" libbare.so:hidden bare
wrong "loads it later" "$PWD/foreign.so:only_late"
printf '\377\0\0\0' >version
build objcopy --update-section quipu_watch=version ours other
ends 1 quipu watch -e sum -- ./other types
said "built by another version"
ends 0 quipu watch -e "$PWD/late.so:only_late" -- ./ours types
said "the program has not loaded '$PWD/late.so'"
wrong "there is no type 'struct poin'; did you mean" '((struct poin *)anything)->x'
wrong "there is no type 'poin'" '*(poin *)anything'
wrong "has no member 'z'" '((struct point *)anything)->z'
wrong "numbers and pointers only" '(struct point)anything'
wrong "no place in memory" '(int)sum'
wrong "its length is not known" '*(void *)address'
wrong "its length is not known" '*anything'
leaves_nothing

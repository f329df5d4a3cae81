#!/bin/bash
# The example of a guarded pool: who writes to its bookkeeping from elsewhere is found at the first
# byte, with the calls that led there, and with --fatal the program goes no further.
. "$(dirname "$0")/lib.bash"
quipu cc --quipu=watch -O1 -g "$top"/examples/pool/*.c -o program || fail "cannot build"
ends 1 ./program
grep -qE '^64 blocks in use, [1-9][0-9]* names lost$' output || fail "it says: $(cat output)"
watches 1 --guard=pool.books --allow=pool.c -- ./program
grep -qE '^ *1:  pool\.books\.next\[0\]  64 -> 32 .* main\.c:[0-9]+  .*VIOLATION$' hits || fail "$(cat hits)"
grep -q 'names lost' output || fail "it does not go on: $(cat output)"
[[ $(grep -c '#0 .* keep_name  main\.c:' hits) -eq $(grep -c VIOLATION hits) ]] &&
    [[ $(grep -c '#1 .* main  main\.c:' hits) -eq $(grep -c VIOLATION hits) ]] ||
    fail "no backtraces: $(cat hits)"
watches 1 --guard=pool.books --allow=pool.c --fatal -- ./program
[[ $(grep -c VIOLATION hits) -eq 1 && ! -s output ]] || fail "it goes on: $(cat hits output)"
[[ $(grep -cE '#0 .* keep_name |#1 .* main ' hits) -eq 2 ]] || fail "no backtrace: $(cat hits)"
watches 1 --guard=pool.books --allow=pool.c --allow=keep_name --allow=main -- ./program
[[ ! -s hits ]] || fail "allowed: $(cat hits)"
leaves_nothing

# Functions that are inlined, or made parts and copies of, are allowed by their own names.
cat >inlined.cc <<'EOT'
#include <cstdlib>
namespace bank {
volatile int books[8];
template <class T> struct account {
    void put(T amount) { books[0] = amount; }
    static inline void take(T amount) { books[6] = amount; }
};
static inline void steal(int i) { books[i] = 9; }
static __attribute__((noinline)) void part(int i) {
    if (__builtin_expect(i > 5, 0)) {
        books[2] = i;
        abort();
    }
    books[2] = i;
}
} // namespace bank
extern "C" __attribute__((noinline)) void honest(int n) {
    bank::account<int> mine;
    mine.put(n);
    bank::account<int>::take(n);
    bank::part(n);
}
int main(int n, char **) {
    honest(n);
    bank::account<int>().put(n);
    if (n > 1)
        bank::steal(n);
    return 3;
}
EOT
for level in -O0 -O2 '-O2 -flto' '-O2 -gsplit-dwarf'; do
    # shellcheck disable=SC2086
    quipu-c++ --quipu=watch -w $level -g inlined.cc -o inlined || fail "cannot build inlined.cc"
    guarded=(--guard bank::books --allow 'bank::account<int>::put' --allow
        'bank::account<int>::take' --allow 'bank::part(int)')
    watches 3 "${guarded[@]}" -- ./inlined
    tells
    watches 1 "${guarded[@]}" -- ./inlined x y
    grep -qF 'bank::books[3]  0 -> 9' hits && [[ $(grep -c VIOLATION hits) -eq 1 ]] ||
        fail "$level: $(cat hits)"
    ! grep -q warning messages || fail "$level: $(cat messages)"
done
watches 3 --guard bank::books --allow honest --allow 'bank::account<int>::put' \
    --allow bank::part -- ./inlined
watches 1 --guard bank::books --allow bank::port -- ./inlined
grep -qF "warning: 'bank::port' is allowed, but no function" messages || fail "$(cat messages)"
leaves_nothing

# A call stores its return address: that is its function's write, and not that of what has been
# inlined where the code goes on behind the call, however far away that is.
cat >stacks.c <<'END_OF_SOURCE'
#include <ucontext.h>
static ucontext_t home, other;
char stack[65536] __attribute__((aligned(4096)));
volatile long cells[4], sink;
static inline __attribute__((always_inline)) int honest(void) { return cells[0]++ < 10; }
static __attribute__((noinline)) void leaf(void) { sink++; }
#define MORE(x) x x x x x x x x
static void thief(void) {
    leaf();
    while (honest()) {
        MORE(MORE(sink--;))
    }
}
int main(void) {
    getcontext(&other);
    other.uc_stack.ss_sp = stack;
    other.uc_stack.ss_size = sizeof stack;
    other.uc_link = &home;
    makecontext(&other, thief, 0);
    return swapcontext(&home, &other);
}
END_OF_SOURCE
quipu cc --quipu=watch -O0 -g stacks.c -o stacks || fail "cannot build stacks.c"
watches 1 --guard stack --allow main --allow leaf --allow honest -- ./stacks
grep -q '  thief  .*stacks\.c:9  call leaf  VIOLATION' hits || fail "a call's store: $(cat hits)"
leaves_nothing

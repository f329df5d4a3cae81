#!/bin/bash
# Names of C++ variables as a programmer writes them: without inline namespaces, with or without
# "(anonymous namespace)", statics of overloaded functions, statics of templates whose arguments are
# left out; members that hide those of bases, or are in several.  By 'quipu watch' and 'quipu when'.
. "$(dirname "$0")/lib.bash"
needs_debug_registers

cat >program.cc <<'EOT2'
namespace app {
inline namespace v2 {
struct config {
    static volatile int made;
    int depth = 0;
};
volatile int config::made;
volatile config settings;
namespace deep { inline namespace abi { volatile int level; } }
enum { LIMIT = 3 };
} // namespace v2
} // namespace app
namespace {
volatile int hidden;
namespace inner { volatile int state; }
} // namespace
template <class T> struct pool {
    static volatile int count;
    __attribute__((noinline)) T take(T value) {
        static volatile int kept;
        kept = (int)sizeof value;
        count = 1;
        return value;
    }
};
template <class T> volatile int pool<T>::count;
template <class T> struct only { static volatile int total; };
template <class T> volatile int only<T>::total;
struct pair { int a; long b; };
struct base { volatile int x = 1; };
struct derived : base { volatile int x = 3; };
template <int N> struct head { volatile int value = N; };
struct both : head<1>, head<2> {};
struct deep : both { volatile int z = 4; };
derived hides, *to_hides = &hides;
deep has_both;
struct nothing {};
struct none { nothing held; };
struct some { volatile int held = 5; };
struct holder : none, some {} holds;
volatile int derived::*to_member;

__attribute__((noinline)) int work(int n) { static int calls; return calls += n; }
__attribute__((noinline)) int work(unsigned long n, const pair &) { static int calls; return calls += (int)n * 2; }
__attribute__((noinline)) int work(void) { static int calls; return calls += 5; }
int (*volatile function)(int) = work;
int main() {
    pool<int> numbers;
    pool<pair> pairs;
    app::config::made = 1;
    app::settings.depth = app::LIMIT;
    app::deep::level = 4;
    hidden = 2;
    inner::state = 6;
    numbers.take(7);
    pairs.take({1, 2});
    only<long>::total = 8;
    hides.x = 10;
    to_member = &derived::x;
    hides.base::x = 11;
    has_both.head<2>::value = 12;
    holds.some::held = 13;
    return (function(1) + work(2, {}) + work() + hidden + inner::state) & 0;
}
EOT2
for build in c++ clang++; do
    has $build || continue
    for kind in watch moment; do
        "quipu-$build" --quipu=$kind -O1 -g program.cc -o $kind || fail "cannot build program.cc by $build"
    done
    # sees NAME OLD NEW: both commands find the one write.
    sees() {
        watches 0 --if 'old != new' -e "$1" -- ./watch
        tells "$1 $2 -> $3"
        ends 0 quipu when "$1 == $3" -- ./moment
        grep -qE "^  ${4:-.*}  $2, then $3$" output || fail "$build: when $1: $(cat output)"
    }
    for scope in app:: app::v2:: v2:: ''; do
        sees "${scope}config::made" 0 1
        sees "${scope}settings.depth" 0 3
    done
    for scope in app::deep:: app::v2::deep::abi:: deep:: program.cc:app::deep:: program.cc:abi::; do
        sees "${scope}level" 0 4
    done
    for name in hidden '(anonymous namespace)::hidden' 'program.cc:(anonymous namespace)::hidden'; do
        sees "$name" 0 2
    done
    sees '(anonymous namespace)::inner::state' 0 6
    sees 'pool<int>::take::kept' 0 4
    sees 'pool<int>::take(int)::kept' 0 4
    sees 'work(int)::calls' 0 1
    sees 'work(unsigned long, pair const&)::calls' 0 4
    sees 'work(long unsigned int, pair const &)::calls' 0 4
    sees 'work()::calls' 0 5
    sees 'program.cc:work(void)::calls' 0 5
    sees 'only::total' 0 8
    ends 0 quipu when 'app::settings.depth == app::LIMIT && (hidden) < 1' -- ./moment

    # Initial values are constants for one compiler, and stored by code of the other.
    finds() {
        watches 0 --if "old == $2" -e "$1" -- ./watch
        tells "$1 $2 -> $3"
        ends 0 quipu when "$1 == $3" -- ./when
        grep -qE "  $2, then $3$" output || fail "$build: when $1: $(cat output)"
    }
    mv moment when
    finds hides.x 3 10
    finds 'to_hides->x' 3 10
    finds hides.base::x 1 11
    finds hides.derived::x 3 10
    finds 'has_both.head<2>::value' 2 12
    finds holds.held 5 13 # the other one is empty, as a unique_ptr's deleter is
    finds 'has_both.both::head< 2 >::value' 2 12

    ends 0 quipu when 'app::config::made == 1' -- ./when
    grep -qE '^  instruction  .*app::v2::config::made' output || fail "$build: $(cat output)"

    # A hit's name means what was written; pointers to members have a type.
    watches 0 -e hides -e has_both -- ./watch
    sed -i -n '/ -> 1[0-9] /p' hits
    tells 'hides.x 3 -> 10' 'hides.base::x 1 -> 11' 'has_both.head<2>::value 2 -> 12'
    watches 0 -e to_member -- ./watch
    grep -qE '\(int derived::\*\)  main' hits || fail "$build: $(cat hits)"

    # refused NAME TEXT...
    refused() {
        local text
        for command in 'watch -e' when; do
            # shellcheck disable=SC2086
            ends 1 quipu $command "$1" -- "./${command%% *}"
            for text in "${@:2}"; do
                grep -qF -- "$text" messages || fail "$build: $command $1: not '$text': $(cat messages)"
            done
        done
    }
    refused 'work::calls == 1' "'work::calls' is there more than once; write 'program.cc:work(" \
        'program.cc:work(int)::calls'
    refused 'work(long)::calls == 1' "there is no variable 'work(long)::calls'"
    refused 'has_both.value == 1' "'value' is in several bases of 'has_both'; write 'BASE::value'"
    refused 'hides.none::x == 1' "'hides' has no base 'none'"
    ends 1 quipu watch --if 'none::there > 1' -e hides.x -- ./watch
    grep -qF "there is no variable 'none::there'" messages || fail "$build: $(cat messages)"
    refused 'work(1) == 1' "functions cannot be called"
    refused 'pool::count == 1' "'program.cc:pool<int>::count' or 'program.cc:pool<pair>::count'"
done
leaves_nothing

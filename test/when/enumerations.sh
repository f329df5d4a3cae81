#!/bin/bash
# Constants of C++ enumerations by their qualified names, as C++ and gdb write them: of 'enum class' and of plain
# ones, in namespaces and classes. A name alone means the one that C++ would see; where there are several, the
# message names them by their enumerations.
. "$(dirname "$0")/../bad/lib.bash"
cat >program.cc <<'EOT'
enum class state { idle, busy, done };
enum class reply { none, done, error };
enum plain { red = 7, white };
namespace ns {
enum class color : short { red, green, blue };
struct car { enum kind { small, big }; kind its_kind; color its_color; };
}
volatile state s;
volatile reply r;
volatile plain p;
ns::car thing;
volatile int step;
__attribute__((noinline)) void go(int i) {
    step = i;
    s = i < 3 ? state::idle : i < 5 ? state::busy : state::done;
    r = i < 4 ? reply::none : i < 8 ? reply::done : reply::error;
    p = i < 6 ? red : white;
    thing.its_color = i < 2 ? ns::color::green : ns::color::blue;
    thing.its_kind = i < 7 ? ns::car::small : ns::car::big;
}
int main() {
    for (int i = 1; i < 10; i++)
        go(i);
}
EOT
for compiler in c++ clang++; do
    command -v $compiler >/dev/null || continue
    ends 0 quipu-$compiler --quipu=moment,watch -O1 -g program.cc -o program
    # at STEP EXPRESSION: it becomes true then.
    at() {
        ends 0 quipu when "$2 && step == $1" ./program
        grep -q 'becomes true' output || fail "$compiler: '$2' at $1: $(cat output messages)"
        if [[ $1 -gt 1 ]]; then
            ends 1 quipu when "$2 && step == $(($1 - 1))" ./program
            said "true at none of"
        fi
    }
    at 5 's == state::done'
    at 3 's == busy'
    at 4 'r == reply::done'
    at 8 'r == error'
    at 6 'p == white'
    at 6 'p == plain::white'
    at 2 'thing.its_color == ns::color::blue'
    at 2 'thing.its_color == color::blue'
    at 7 'thing.its_kind == ns::car::big'
    at 7 'thing.its_kind == ns::car::kind::big'
    ends 0 quipu when 's == state::done' ./program
    grep -q '^ *s  *busy, then done$' output || fail "$compiler: no name of the value: $(cat output)"
    ends 0 quipu when 'p == red' ./program
    ends 1 quipu when 's == done' ./program
    grep -q "write 'program.cc:state::done' or 'program.cc:reply::done'" messages || fail "$(cat messages)"
    ends 0 quipu watch -e s --if 'new == state::done && old == state::busy' -- ./program
    [[ $(grep -c 'busy -> done' messages) -eq 1 ]] || fail "$compiler: watch: $(cat messages)"
done

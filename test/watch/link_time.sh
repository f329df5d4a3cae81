#!/bin/bash
# Objects are named as ever in programs that are optimized at link time: such a program's variables are
# in units without a name, and refer to those of the source files.
# timeout: 200
. "$(dirname "$0")/lib.bash"
cat >one.c <<'EOT'
static int level;
__attribute__((noipa)) void up(int n) { level += n; }
__attribute__((noipa)) int get(void) { return level; }
EOT
cat >two.c <<'EOT'
static int level = 100;
struct pair { int a, b; } state;
static struct pair *pointer = &state;
_Thread_local int turns;
__attribute__((noipa)) void up_again(int n) {
    static int calls;
    volatile int local = n;
    calls++;
    turns += 2;
    local += calls;
    level += local;
    pointer->b = level;
}
__attribute__((noipa)) int get_again(void) { return level; }
EOT
cat >main.c <<'EOT'
void up(int), up_again(int);
int get(void), get_again(void);
int sum;
int main(void) {
    for (int i = 1; i < 4; i++) {
        up(i);
        up_again(i);
        sum += get() + get_again();
    }
    return sum != 330;
}
EOT
# hits_of EXPRESSION LINE...: the hits, without the type and what is behind it
hits_of() {
    local expression=$1
    shift
    watches 0 -e "$expression" ./program
    tells "$@"
}
for options in "" "-flto" "-flto -ffat-lto-objects" "-flto -O3"; do
    # shellcheck disable=SC2086
    quipu cc --quipu=watch,moment -O2 -g $options one.c two.c main.c -o program || fail "$options: cannot build"
    ends 0 ./program
    watches 1 -e level ./program
    grep -q "'level' is there more than once; write '.*c:level' or '.*c:level'" messages || fail "$options: $(cat messages)"
    hits_of one.c:level "one.c:level 0 -> 1" "one.c:level 1 -> 3" "one.c:level 3 -> 6"
    hits_of two.c:level "two.c:level 100 -> 102" "two.c:level 102 -> 106" "two.c:level 106 -> 112"
    hits_of two.c:state "two.c:state.b 0 -> 102" "two.c:state.b 102 -> 106" "two.c:state.b 106 -> 112"
    hits_of state "state.b 0 -> 102" "state.b 102 -> 106" "state.b 106 -> 112"
    hits_of up_again::calls "up_again::calls 0 -> 1" "up_again::calls 1 -> 2" "up_again::calls 2 -> 3"
    hits_of turns "turns 0 -> 2" "turns 2 -> 4" "turns 4 -> 6"
    hits_of sum "sum 0 -> 103" "sum 103 -> 212" "sum 212 -> 330"
    watches 0 -e up_again::local ./program
    [[ $(grep -c up_again::local hits) == 6 ]] || fail "$options: local: $(cat hits)"
    ends 0 quipu when "one.c:level == 3 && two.c:level == 106" -- ./program
    grep -q "becomes true" output || fail "$options: when: $(cat output)"
done

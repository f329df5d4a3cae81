#!/bin/bash
# In a file with an ifunc only the resolver, and what it calls, is left alone: not each function that
# has an alias; and of the resolver there is no warning, which configure scripts take for a refusal.
. "$(dirname "$0")/../bad/lib.bash"
make_program program -O2 -g <<'EOT'
static int my_foo(void) { return 0; }
static int (*resolve_foo(void))(void) { return my_foo; }
int foo(void) __attribute__((ifunc("resolve_foo")));
int written;
__attribute__((noinline)) int helper(int x) { written += x; return x * 3; }
__attribute__((noinline)) int bar(int x) { written++; return helper(x) + 1; }
int baz(int x) __attribute__((alias("bar")));
int main(int count, char **arguments) { return arguments[0] && foo() + baz(count) != 4; }
EOT
export QUIPU_DATA=$PWD/data
ends 0 ./program
ends 0 quipu report --by=function --format=csv
for name in bar helper my_foo main; do
    grep -qw $name output || fail "'$name' is not counted: $(cat output)"
done
ends 0 quipu info --format=json program
left=$(python3 -c 'import json; print(*[f["name"] for f in json.load(open("output"))["binaries"][0]["left_alone"]])')
[[ $left == resolve_foo ]] || fail "left alone: $left"

make_program watched -O2 -g --quipu=watch <program.c
ends 0 quipu watch -e written -- ./watched
for name in bar helper; do
    grep -qw $name messages || fail "the write in '$name' is not told: $(cat messages)"
done

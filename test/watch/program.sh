#!/bin/bash
# 'quipu watch --program' watches what another program runs: a shell, a script that runs it twice and
# in between what was not built so, a debugger.
. "$(dirname "$0")/lib.bash"
cat >program.c <<'EOT2'
#include <stdio.h>
#include <stdlib.h>
long total;
struct node { struct node *next; long value; } node, *head = &node;
static __attribute__((noinline)) void add(long n) { total += n; }
int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        add(atol(argv[i]));
    head->value = total;
    printf("total %ld\n", total);
    return total == 7 ? 7 : 0;
}
EOT2
quipu cc --quipu=watch -g -O1 program.c -o program || fail "cannot build"
watches 7 --program=program -e total -- sh -c 'exec ./program 3 4'
tells 'total 0 -> 3' 'total 3 -> 7'
printf '#!/bin/sh\n./program 1 || exit\n/bin/echo between\n./program 2 5\nexit 3\n' >script
chmod +x script
watches 3 --program ./program -e total -- ./script
tells 'total 0 -> 1' 'total 0 -> 2' 'total 2 -> 7'
[[ $(cat output) == $'total 1\nbetween\ntotal 7' ]] || fail "$(cat output)"
watches 1 --program ./program --guard total --allow main -- ./script
grep -q "3 writes that must not be" messages || fail "$(cat messages)"
if has gdb; then
    watches 0 --program=program -e total -- gdb -q -batch -ex 'break main' -ex 'run 5' -ex continue ./program
    tells 'total 0 -> 5'
    grep -q '^Breakpoint 1, main ' output || fail "gdb: $(cat output messages)"
fi
# what it runs never comes to the program
watches 1 --program=program -e total -- /bin/true
grep -q "nothing was watched: no code of '.*program'" messages || fail "$(cat messages)"
refused() {
    watches 1 "${@:2}"
    [[ $(wc -l <messages) -eq 1 ]] && grep -qF -- "$1" messages || fail "'${*:2}': $(cat messages)"
}
refused "name the pointer" --program=program -e 'head->value' -- ./script
refused "'./absent': No such file" --program=absent -e total -- ./script
refused "no such program" --program=program -e total -- ./absent
refused "leave '--program' out" --program=program -e total --pid=$$
leaves_nothing

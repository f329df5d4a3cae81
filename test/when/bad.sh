#!/bin/bash
# What 'quipu when' refuses: one error each, exit status 1, nothing left running, and no directory for
# the time being left behind.
. "$(dirname "$0")/../bad/lib.bash"
needs_debug_registers
export TMPDIR=$PWD/temporary
mkdir "$TMPDIR"
cat >other.c <<'EOT'
static int twice;
volatile int other;
int add(void) { return other += ++twice; }
EOT
cat >program.c <<'EOT'
#include <pthread.h>
#include <unistd.h>
static int twice = 3;
struct table { int used, room; struct { int deep; } part; } table;
struct table *tables = &table;
__thread int local_to_thread;
struct unknown *opaque;
double real = 1.5;
int add(void);
volatile int on;
static void *start(void *argument) { on++; return argument; }
__attribute__((noinline)) static int work(int n) {
    static int calls;
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum ^= sum * i + n;
    table.used += ++calls;
    return sum + twice++;
}
int main(int argc, char **argv) {
    pthread_t thread;
    int sum = work(10);
    local_to_thread++;
    if (argc > 1 && argv[1][0] == 't' && pthread_create(&thread, NULL, start, NULL) == 0)
        pthread_join(thread, NULL);
    if (argc > 1 && argv[1][0] == 'e')
        execlp("true", "true", NULL);
    if (argc > 1 && argv[1][0] == 'a')
        __builtin_trap();
    return sum == 12345 ? add() : 4;
}
EOT
quipu cc --quipu=moment -O1 -g -pthread program.c other.c -o program || fail "cannot build 'program'"
quipu cc --quipu=moment -O1 program.c other.c -o no_lines || fail "cannot build 'no_lines'"
quipu cc -O1 -g program.c other.c -o counted || fail "cannot build 'counted'"
cp program stripped && strip stripped

# wrong TEXT COLUMN EXPRESSION: the expression is refused with TEXT, and a mark below the column.
wrong() {
    ends 1 quipu when "$3" ./program
    [[ ! -s output ]] || fail "'$3': $(cat output)"
    [[ $(wc -l <messages) -eq 3 ]] || fail "'$3': $(cat messages)"
    [[ $(sed -n 1p messages) == "quipu: error: "*"$1"* ]] || fail "'$3': not '$1': $(cat messages)"
    [[ $(sed -n 2p messages) == "    $3" ]] || fail "'$3': $(cat messages)"
    [[ $(sed -n 3p messages) == "$(printf '    %*s' "$2" '^')" ]] ||
        fail "'$3': not at $2: $(cat messages)"
}
wrong "did you mean 'table'" 5 '1 + tabel'
wrong "did you mean 'work::calls'?" 1 'work::cals == 1'
wrong "no variable 'vector<int>::size'" 5 '1 + vector<int>::size'
wrong "no variable 'nowhere'" 1 'nowhere > 3'
wrong "has no member 'usd'; did you mean 'used'?" 7 'table.usd == 1'
wrong "has no member 'used'" 12 'table.part.used'
wrong "is a pointer; write '->'" 1 'tables.used'
wrong "is no pointer" 1 'table->used'
wrong "is no pointer" 2 '*real'
wrong "is a structure" 1 'table'
wrong "must stand here" 1 '<int>::made'
wrong "is a structure" 1 'table.part > 1'
wrong "more than once; write 'program.c:twice' or 'other.c:twice'" 1 'twice == 4'
wrong "thread-local" 1 'local_to_thread == 1'
wrong "no address" 1 'sum == 4'
wrong "does not define it" 9 'opaque->used'
wrong "ends where" 14 'table.used > '
wrong "ends where" 1 ''
wrong "must stand here" 14 'table.used > )'
wrong "')' is missing" 16 '(table.used > 1'
wrong "':' is missing" 16 'table.used ? 1 2'
wrong "'==' compares" 12 'table.used = 4'
wrong "cannot be called" 1 'work(3)'
wrong "nothing can be changed" 11 'table.used++'
wrong "nothing can be changed" 13 'table.used += 3'
wrong "no digit" 16 'table.used == 0xg'
wrong "no digit" 17 'table.used == 12a'
wrong "no digit" 17 'table.used == 0b'
wrong "no digit" 17 'table.used == 0b-1'
wrong "no character" 15 "table.used == '\\x100000041'"
wrong "no variable 'long'" 2 '(long long long)table.used'
wrong "greater than any" 15 'table.used == 99999999999999999999'
wrong "no character" 15 "table.used == 'ab'"
wrong "no character" 15 "table.used == '"
wrong "for integers" 5 'real % 2'
wrong "'~' is for integers" 2 '~real'
wrong "no such operator" 7 'tables * 3'
wrong "names no variable" 1 '1 + 1'
wrong "name of a member" 7 'table.'
wrong "must stand here" 12 'table.used @ 3'
wrong "too much" 201 "$(printf '%.0s(' {1..300})table.used"

expect() {
    refuses "$1" -- quipu when "${@:2}"
}
expect "no such program" table.used ./no_such_program
expect "-g" table.used ./no_lines
expect "--quipu=moment" table.used ./counted
expect "stripped" table.used ./stripped
expect "no expression" --
expect "no program" 'table.used'
expect "nonsense" --nonsense table.used ./program
expect "--exec" --exec
expect "xml" --format=xml table.used ./program
TMPDIR=/nowhere expect "TMPDIR" table.used ./program
refuses "true at none of" "exit status 4" -- quipu when 'table.used == 2' ./program
refuses "true at none of" "exit status 4" -- quipu when 'on == 2' ./program thread
expect "at most four words" 'on == 2 && table.used + table.room + table.part.deep + tables->used > 9 && program.c:twice' \
    ./program thread
expect "another program" 'on == 2' ./program exec
expect "signal 4" 'on == 2' ./program abort
ends 0 quipu when 'other.c:twice == 0' ./program
grep -q 'from the start' output || fail "$(cat output)"
ends 0 quipu when 'program.c:twice == 4' ./program
grep -q 'work+' output || fail "$(cat output)"
ends 0 quipu when --format=json 'work::calls == 1 && tables->used' -- ./program thread
python3 -c "
import json
found = json.load(open('output'))
assert found['moment'].startswith('work+') and found['thread'] == 1, found
assert {'name': 'tables->used', 'before': '0', 'after': '1'} in found['values'], found" || fail "$(cat output)"
[[ -z $(ls -A "$TMPDIR") ]] || fail "left in TMPDIR: $(ls -A "$TMPDIR")"
running=$(grep -lz "^./program$" /proc/[0-9]*/cmdline 2>/dev/null | while read -r file; do
    [[ $(readlink "${file%cmdline}cwd") != "$PWD" ]] || echo "$file"; done)
[[ -z $running ]] || fail "left running: $running"

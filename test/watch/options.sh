#!/bin/bash
# Conditions, limits, summaries, commands, promises and guards.
. "$(dirname "$0")/lib.bash"
make_standin

watches 0 --if 'old != new && new < 15' -e 'config.limits' -- ./program types
tells 'config.limits[1] 0 -> 10' 'config.limits[1..2] {10, 20} -> {1, 2}'
watches 0 --if 'new.y' -e config.at -- ./program types
tells 'config.at {0, 0} -> {3, -4}'
watches 0 --if 'new > 0.2' -e config.exact -e config.ratio -- ./program types
tells 'config.exact 0.1 -> 0.5'
watches 0 --if 'config.color == GREEN && new' -e 'config.limits' -e config.exact -- ./program types
tells 'config.exact 0 -> 0.1' 'config.limits[1..2] {10, 20} -> {1, 2}' 'config.exact 0.1 -> 0.5'
watches 0 --if 'old != new' --if 'new > 5' --if 'new < 15' -e 'config.limits' -- ./program types
tells 'config.limits[1] 0 -> 10'
ends 1 quipu watch --if 'new > 5' --if 'nev' -e counter -- ./program types
[[ $(sed -n 2p messages) == '    nev' ]] || fail "the second of two conditions: $(cat messages)"
watches 0 --if 'new / 0.0 > 1e300' -e config.exact -- ./program types
tells 'config.exact 0 -> 0.1' 'config.exact 0.1 -> 0.5' # infinite, as in C
watches 0 --if 'new / (new - 10)' -e 'config.limits[1]' -- ./program types
tells

# What may be behind an array's declared end.
cat >ends.c <<'EOP'
#include <stdlib.h>
struct list { int count; char names[1]; } *list;
struct tail { int count; int of[]; } *tail;
int table[10], *first = table, (*whole)[10] = &table;
int main(void) {
    list = calloc(1, 64), tail = calloc(1, 64), list->count = tail->count = 1;
    *(volatile char *)&list->names[5] = 7, *(volatile int *)&tail->of[3] = 8, first[9] = 9;
    return 0;
}
EOP
quipu cc --quipu=watch -g ends.c -o ends || fail "cannot build 'ends'"
watches 0 -e 'list->names[5]' -e 'tail->of[3]' -e '*(table + 9)' -e 'first[12]' -e 'table[9]' -- ./ends
grep -v ' 0 -> ' hits && fail "ends: $(cat hits)"
[[ $(wc -l <hits) -eq 4 ]] || fail "ends: $(cat hits)"
ends 1 quipu watch -e '(*whole)[10]' -- ./ends
grep -qF "the indices are from 0 to 9" messages || fail "(*whole)[10]: $(cat messages)"

watches 0 --limit 2 -e config -- ./program types
tells 'config.limits[0] 0 -> 0' 'config.limits[1] 0 -> 10'

watches 0 --summary -e config.exact -e grid -- ./program types
grep -qE '^ +2 +2 +set_types +program.c:[0-9]+ +grid' hits || [[ $(grep -c set_types hits) -eq 3 ]] ||
    fail "summary: $(cat hits)"
watches 0 --summary --format=json -e counter -- ./program count 1000 3
python3 - <<'EOT' || fail "summary: $(cat hits)"
import json
table = json.load(open('hits'))
(row,) = table['writers']
assert row['hits'] == 3000 and row['changes'] > 900 and row['function'] == 'count_up', row
assert row['file'] == 'program.c' and row['expression'] == 'counter' and row['line'], row
EOT
watches 0 --summary --format=csv -e config.color -- ./program types
[[ $(head -n 1 hits | tr -d '\r') == hits,changes,undecided,function,file,line,expression,instruction ]] ||
    fail "csv: $(cat hits)"

watches 0 --exec 'echo "$QUIPU_HIT $QUIPU_NAME $QUIPU_OLD $QUIPU_NEW $QUIPU_FUNCTION"
    [ -d /proc/$QUIPU_PID/task/$QUIPU_THREAD ] && [ -z "$QUIPU_WATCH" ] && echo there' \
    -e config.color -- ./program types
[[ $(cat output) == $'types begins\n1 config.color RED GREEN set_types\nthere' ]] ||
    fail "--exec: $(cat output)"

watches 0 --backtrace -e config.color -- ./program types
grep -qE '#0 .* set_types  program.c' hits && grep -qE '#1 .* main  program.c' hits ||
    fail "--backtrace: $(cat hits)"

watches 133 --stop -e config -- ./program types
tells 'config.limits[0] 0 -> 0'

watches 1 --never-written config.color -e config.on -- ./program types
grep -qF "1 write that must not be" messages || fail "$(cat messages)"
tells 'config.color RED -> GREEN' 'config.on false -> true'
[[ $(grep -c VIOLATION hits) -eq 1 ]] || fail "violations: $(cat hits)"
[[ $(grep -c '#1 .* main  program.c' hits) -eq 1 ]] || fail "calls of a violation: $(cat hits)"
watches 0 --never-written filled -- ./program types
watches 1 --fatal --never-written config.color --never-written config.on -- ./program types
tells 'config.color RED -> GREEN'

watches 0 --guard config --allow set_types --allow main -- ./program types
tells
watches 0 --guard config --allow parts/program.c -- ./program types
watches 0 --guard config --allow program -- ./program types
watches 1 --guard config.exact --allow set_types -- ./program types
tells 'config.exact 0.1 -> 0.5'
leaves_nothing

# A condition is about each element of a write, however long: the one for which it is true may be far
# behind the first that changed.
cat >long.c <<'EOT'
#include <stdlib.h>
#include <string.h>
int table[16384], *block;
static int given[16384];
int main(void) {
    given[15000] = 5;
    memcpy(table, given, sizeof table);
    given[15000] = 0, given[10] = 1;
    memcpy(table, given, sizeof table);
    block = malloc(sizeof table);
    memset(block, 0, sizeof table);
    given[15001] = 7;
    memcpy(block, given, sizeof table);
    return 0;
}
EOT
quipu cc --quipu=watch -O1 -g -fno-builtin long.c -o long || fail "cannot build long.c"
watches 0 --if 'old == 5' --format json -e table -- ./long
[[ $(wc -l <hits) -eq 1 ]] && grep -q '"line":9,' hits || fail "a long write: $(cut -c 1-300 hits)"
watches 0 --if 'new >= 7 << 32' --format json --heap long.c:10 -- ./long
[[ $(wc -l <hits) -eq 1 ]] && grep -q '"line":13,' hits || fail "a long block: $(cut -c 1-300 hits)"
leaves_nothing

#!/bin/bash
# Names and values of what was written, down to the field or element, of all kinds of types.
. "$(dirname "$0")/lib.bash"
make_standin

watches 0 -e config -e grid -e 'buffer[0..4095]' -- ./program types
tells 'config.limits[0] 0 -> 0' 'config.limits[1] 0 -> 10' 'config.limits[2] 0 -> 20' \
    'config.color RED -> GREEN' "config.letter 'a' (97) -> 'b' (98)" 'config.on false -> true' \
    'config.ratio 0 -> 0.1' 'config.exact 0 -> 0.1' 'config.ports[3] 0 -> 443' \
    'config.at {0, 0} -> {3, -4}' 'config.name[0..5] "first" -> "other"' \
    'config.points 0x0 -> 0x1234' 'config.limits[1..2] {10, 20} -> {1, 2}' \
    'grid[1] {0, 0, 0, 0} -> {1, 2, 3, 4}' 'grid[2][3] 0 -> -9' \
    'buffer[100..105] {0, 0, 0, 0, ...} -> {1, 2, 3, 4, ...}' 'buffer[4095] 0 -> 65' \
    'config.exact 0.1 -> 0.5'
grep -qF '(enum color)  set_types  program.c:' hits || fail "no place: $(cat hits)"
grep -qF '(port)' hits || fail "no typedef: $(cat hits)"
grep -qF '(struct point *)' hits || fail "no pointer type: $(cat hits)"
grep -qE 'set_types +program\.c:[0-9]+ +incl standin_stores\(%rip\)$' hits ||
    fail "no instruction: $(cat hits)"
[[ $(cat output) == "types begins" && $(cat messages) == "types ends" ]] ||
    fail "the program's output: $(cat output messages)"

# Parts, and slices that are written in part.
watches 0 -e program.c:config.at.y -e 'grid[1..2]' -e 'config.ports[2..3]' -e 'config.limits[2]' \
    -e 'buffer[98..101]' -- ./program types
tells 'config.limits[2] 0 -> 20' 'config.ports[3] 0 -> 443' 'program.c:config.at.y 0 -> -4' \
    'config.limits[2] 20 -> 2' 'grid[1] {0, 0, 0, 0} -> {1, 2, 3, 4}' 'grid[2][3] 0 -> -9' \
    'buffer[100..101] {0, 0} -> {1, 2}'

# The same in JSON.
watches 0 --format=json -e 'config.limits[0..2]' -- ./program types
python3 - <<'EOT' || fail "JSON: $(cat hits)"
import json
hits = [json.loads(line) for line in open('hits')]
assert [hit['hit'] for hit in hits] == [1, 2, 3, 4], hits
last = hits[-1]
assert last['name'] == 'config.limits[1..2]' and last['type'] == 'int[2]', last
assert last['old'] == '{10, 20}' and last['new'] == '{1, 2}' and last['bytes'] == 8, last
assert last['function'] == 'set_types' and last['file'] == 'program.c' and last['line'] > 0, last
assert last['instruction'] == 'incl standin_stores(%rip)' and last['cause'] == 'store', last
assert last['expression'] == 'config.limits[0..2]' and last['violation'] is False, last
assert last['address'] == hits[1]['address'] and last['thread'] == last['process'], last
EOT

watches 0 --long -e 'config.color' -- ./program types
grep -qE '4 bytes at 0x[0-9a-f]+, process [0-9]+, thread [0-9]+$' hits || fail "--long: $(cat hits)"
leaves_nothing

# Bit fields that share bytes: those that have changed.
cat >bits.c <<'EOP'
struct flags { int before; unsigned low : 3, high : 5; unsigned wide : 13; int s : 3; _Bool on : 1; char behind; } flags;
volatile int n;
__attribute__((noipa)) void each(void) { flags.high = 17 + n; flags.low = 5; flags.high = 17 + n; flags.wide = 4000; flags.on = 1; flags.s = -2; flags.behind = 3; }
__attribute__((noipa)) void all(struct flags *f) { f->low = 1; f->high = 2; f->wide = 0; f->s = 1; }
int main(int argc, char **argv) { if (argc == 1) each(); else all(&flags); return 0; }
EOP
quipu cc --quipu=watch -g -O0 bits.c -o bits || fail "cannot build 'bits'"
watches 0 -e flags -- ./bits
tells 'flags.high 0 -> 17' 'flags.low 0 -> 5' 'flags.{low, high} {5, 17} -> {5, 17}' \
    'flags.wide 0 -> 4000' 'flags.on false -> true' 'flags.s 0 -> -2' 'flags.behind 0 -> 3'
quipu cc --quipu=watch -g -O2 bits.c -o bits || fail "cannot build 'bits'"
watches 0 --format=json -e flags -- ./bits together
python3 - <<'EOT' || fail "several bit fields: $(cat hits)"
import json
(hit,) = [json.loads(line) for line in open('hits')]
assert hit['name'] == 'flags.{low, high, s}', hit
assert hit['type'] == '{unsigned int, unsigned int, int}', hit
assert hit['old'] == '{0, 0, 0}' and hit['new'] == '{1, 2, 1}', hit
EOT

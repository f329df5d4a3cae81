#!/bin/bash
# Of a structure with many members those are shown that have changed, by name, where the first ones
# would hide them; of an array those from the first that has changed on.  Where nothing is known of the
# first ones, those that were written are shown.
. "$(dirname "$0")/lib.bash"
cat >program.c <<'EOT'
#include <string.h>
typedef int four __attribute__((vector_size(16), aligned(4), may_alias));
struct shape {
    int a, b, c, d, e, f, g, h;
    int many[12];
} shape;
int numbers[32];
int source[12] = {[9] = 5, [11] = 6};
volatile size_t length = sizeof source;
int main(void) {
    *(four *)&shape.e = (four){0, 0, 7, 0};
    *(four *)&shape.a = (four){1, 0, 0, 0};
    *(four *)&shape.many[2] = (four){0, 0, 0, 9};
    memcpy(numbers + 1, source, length);
    return 0;
}
EOT
"$quipu" cc --quipu=watch -g -O1 program.c -o program || fail "cannot build"
watches 0 -e shape -e numbers -- ./program
for wanted in 'shape +{\.g = 0, \.\.\.} -> {\.g = 7, \.\.\.}' \
    'shape +{0, 0, 0, 0, \.\.\.} -> {1, 0, 0, 0, \.\.\.}' \
    'numbers\[1\.\.12\] +{\.\.\., 0, 0, 0} -> {\.\.\., 5, 0, 6}' \
    'shape\.many\[2\.\.5\] +{0, 0, 0, 0} -> {0, 0, 0, 9}'; do
    grep -qE ": +${wanted//[{]/\\{}" hits || fail "no hit like '$wanted': $(cat hits)"
done
! grep -F '{?, ?, ?, ?' hits || fail "nothing is told of these"
leaves_nothing

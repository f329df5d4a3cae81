#!/bin/bash
# An element or a member that is further from its pointer than a page: while the pointer is null, the object does
# not exist yet.
. "$(dirname "$0")/lib.bash"
cat >far.c <<'EOT'
#include <stdlib.h>
struct large {
    char before[5000];
    long x;
};
long *p;
struct large *t, **tt = &t;
int main(void) {
    p = malloc(8192);
    p[512] = 3;
    p[0] = 1;
    t = malloc(sizeof *t);
    (*tt)->x = 4;
    return 0;
}
EOT
quipu cc --quipu=watch -O1 -g far.c -o far || fail "cannot build"
watches 0 -e 'p[512]' -e 't->x' -e '(*tt)->x' -- ./far
[[ $(grep -c ' main ' hits) -eq 3 ]] || fail "$(cat hits)"
watches 1 --never-written 'p[512]' -- ./far
watches 0 --follow -e 'p[512]' -e 't->x' -- ./far
[[ $(grep -c ' main ' hits) -eq 2 ]] || fail "--follow: $(cat hits)"
leaves_nothing

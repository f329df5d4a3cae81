#!/bin/sh
# watch_modules.sh: several modules of a process watch the same memory; a program without --quipu=watch
# is told so.
. "$(dirname "$0")/common.sh.inc"
link shared libmodules.so -DLIBRARY -I"$root" -I"$root/src" "$here/watch_modules.c"
for kind in exe no-pie; do
    link $kind modules -I"$root" -I"$root/src" "$here/watch_modules.c" -Wl,-u,quipu_watch_early
    silent ./modules
    link $kind modules -I"$root" -I"$root/src" "$here/watch_modules.c" -Wl,--no-as-needed ./libmodules.so
    silent ./modules
done
nm -D --defined-only libmodules.so | grep -i quipu && fail "the runtime exports a symbol"
cat >without.cc <<'END'
#include <quipu.h>
static void tell(const quipu_write *, void *) {}
int main() { return quipu_watch_create("", 1, tell, nullptr) == -38 && quipu_watch_delete(1) == -2 ? 0 : 1; }
END
g++ -I"$root/include" -Wall -Wextra -Werror -o without without.cc || fail "quipu.h in C++"
silent ./without
exit 0

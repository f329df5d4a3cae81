#!/bin/bash
# A shared object with watched stores whose functions take the place of the C library's is called by
# constructors before its own: allocators and wrappers that are preloaded into programs that quipu did
# not build.  They run, and their stores are watched from the first one on.
. "$(dirname "$0")/../watch/lib.bash"
cat >replaced.c <<'EOT'
#include <stddef.h>
static char room[1 << 20] __attribute__((aligned(16)));
size_t used;
void *own_malloc(size_t size) {
    char *block = room + used;
    used += (size + 15) / 16 * 16;
    return block;
}
void *malloc(size_t size) __attribute__((alias("own_malloc")));
void *calloc(size_t count, size_t size) { return own_malloc(count * size); }
void free(void *block) { (void)block; }
EOT
cat >wrapped.cc <<'EOT'
#include <cstddef>
static char room[1 << 16] __attribute__((aligned(16)));
size_t used;
void *operator new(size_t size) {
    char *block = room + used;
    used += (size + 15) / 16 * 16;
    return block;
}
double scaled;
extern "C" double ldexp(double value, int power) {
    scaled = value;
    return power ? 2 * ldexp(value, power - 1) : value;
}
EOT
cat >first.cc <<'EOT'
#include <cmath>
#include <cstdlib>
double volatile three = 3;
static int *kept;
static void *block;
extern "C" __attribute__((constructor)) void first(void) {
    if (std::ldexp(three, 2) != 12)
        abort();
    kept = new int(5);
    block = malloc(100);
}
extern "C" int made(void) { return block && *kept == 5; }
EOT
cat >main.c <<'EOT'
int made(void);
int main(void) { return !made(); }
EOT
g++ -O1 -fno-builtin -fPIC -shared first.cc -o libfirst.so || fail 'cannot build libfirst.so'
gcc main.c -o plain -L. -lfirst -Wl,-rpath,"$PWD" || fail 'cannot build plain'
for flags in '-O0' '-O2' '-O2 -fcf-protection' '-O2 -flto'; do
    # shellcheck disable=SC2086
    quipu cc --quipu=watch -g $flags -fno-builtin -fPIC -shared replaced.c -o replaced.so &&
        quipu c++ --quipu=watch -g $flags -fno-builtin -fPIC -shared wrapped.cc -o wrapped.so ||
        fail "$flags: cannot build"
    for object in replaced wrapped; do
        ends 0 env QUIPU_DATA=none LD_PRELOAD="./$object.so" ./plain
        watches 0 --program=plain -e "./$object.so:used" -- env LD_PRELOAD="./$object.so" ./plain
        grep -q ' 0 -> ' <(sed -n 1p hits) || fail "$flags, $object: $(cat hits)"
    done
done

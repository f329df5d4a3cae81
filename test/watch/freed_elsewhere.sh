#!/bin/bash
# A call that is given a block and frees it has not written into it: the allocator has. A call that is
# given a freed block and writes into it has.
# timeout: 60
. "$(dirname "$0")/lib.bash"
cat >library.c <<'EOT'
#include <stdlib.h>
void *get(int n) { return calloc(1, n); } // allocates
void put(void *block) { free(block); }
EOT
cat >foreign.c <<'EOT'
/* The complement: the allocator keeps a random key in a free block, and may have stored any value there. */
void spoil(char *block) { block[9] = ~block[9]; }
EOT
cat >program.c <<'EOT'
enum { BLOCKS = 20 };
void *blocks[BLOCKS];
void *get(int);
void put(void *);
void spoil(char *);
int main(int argc, char **argv) {
    for (int i = 0; i < BLOCKS; i++)
        blocks[i] = get(24);
    for (int i = 0; i < BLOCKS; i++)
        put(blocks[i]);
    for (int i = 0; argc > 1 && i < BLOCKS; i++)
        spoil(blocks[i]);
    return 0;
}
EOT
gcc -O1 -c foreign.c || fail "cannot build"
build() {
    quipu cc --quipu=watch "$1" -g -fPIC -shared library.c -o library.so || fail "cannot build"
    quipu cc --quipu=watch "$1" -g program.c foreign.o ./library.so -o two || fail "cannot build"
    quipu cc --quipu=watch "$1" -g program.c foreign.o library.c -o one || fail "cannot build"
}
for level in -O0 -O1 -O2; do
    build $level
    for program in one two; do
        watches 0 -e heap:library.c:2 --if after_free -- ./$program
        [[ ! -s hits ]] || fail "$level, $program: $(head -n 3 hits)"
        watches 0 -e heap:library.c:2 --if after_free -- ./$program spoil
        [[ $(grep -c 'spoil.*after free by put' hits) -eq 20 ]] || fail "$level, $program, spoiled: $(head -n 30 hits)"
    done
done

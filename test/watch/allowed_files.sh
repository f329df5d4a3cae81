#!/bin/bash
# What a source file may write, its code may that stands in headers and other files that it includes,
# inlined or not; but not the same code where another file includes it, nor what other files' functions
# write that link-time optimization has inlined into it.
. "$(dirname "$0")/lib.bash"
mkdir -p source
cat >source/tool.h <<'EOT'
static inline void set(volatile int *to, int value) {
    *to = value;
}
EOT
cat >source/part.def <<'EOT'
books[1] = n;
EOT
cat >source/book.c <<'EOT'
#include "tool.h"
volatile int books[8];
__attribute__((noinline)) void honest(int n) {
    set(&books[0], n);
#include "part.def"
    books[2] = n;
}
void each(void (*visit)(int)) {
    for (int i = 0; i < 1; i++)
        visit(i);
}
EOT
cat >source/thief.c <<'EOT'
#include "tool.h"
extern volatile int books[8];
void honest(int n);
void each(void (*visit)(int));
static void steal(int i) {
    books[i + 3] = 9;
}
int main(int n, char **arguments) {
    (void)arguments;
    honest(n);
    set(&books[5], n);
    each(steal);
    return 3;
}
EOT
compilers_of_test=(cc)
has clang && compilers_of_test+=(clang)
for compiler in "${compilers_of_test[@]}"; do
    for flags in -O0 -O2 '-O2 -gdwarf-4' '-O2 -flto' '-O2 -gsplit-dwarf'; do
        [[ $compiler$flags = clang*-flto ]] && continue
        # shellcheck disable=SC2086
        quipu-$compiler --quipu=watch -Wall -Wextra $flags -g ./source/book.c source/thief.c \
            -o program || fail "$compiler $flags: cannot build"
        watches 1 --guard books --allow book.c -- ./program
        [[ $(grep -c VIOLATION hits) -eq 2 ]] && grep -q 'books\[5\].* tool\.h:2 ' hits &&
            grep -q 'books\[3\].* thief\.c:6 ' hits || fail "$compiler $flags: book.c: $(cat hits)"
        watches 1 --guard books --allow source/thief.c --allow part.def -- ./program
        [[ $(grep -c VIOLATION hits) -eq 2 ]] && grep -q 'books\[0\]' hits &&
            grep -q 'books\[2\]' hits || fail "$compiler $flags: thief.c: $(cat hits)"
        watches 1 --guard books --allow tool.h -- ./program
        [[ $(grep -c VIOLATION hits) -eq 3 ]] || fail "$compiler $flags: tool.h: $(cat hits)"
    done
done
leaves_nothing

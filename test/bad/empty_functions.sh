#!/bin/bash
# Functions without an instruction, which compilers leave of code that is never reached, lose nothing:
# nothing is said of them, alone in a section or in front of others.
. "$(dirname "$0")/lib.bash"
cat >empty.c <<'EOT'
#include <stdio.h>

void nothing(void);
void nothing(void) {
    __builtin_unreachable();
}

static int more(int x) {
    return x + 1;
}

__attribute__((cold, noinline)) void cold_nothing(int x);
void cold_nothing(int x) {
    (void)x;
    __builtin_unreachable();
}

static __attribute__((noinline, cold)) int never(int x) {
    if (x)
        __builtin_unreachable();
    __builtin_unreachable();
}

int main(int argc, char **argv) {
    (void)argv;
    if (argc > 5)
        return never(argc);
    printf("%d\n", more(argc));
    return 0;
}
EOT
for flags in -O0 -O2 '-O3 -ffunction-sections'; do
    for mode in count event,moment,calls watch; do
        # shellcheck disable=SC2086
        QUIPU_STRICT=1 ends 0 quipu cc --quipu=$mode $flags -g empty.c -o empty
        [[ ! -s messages ]] || fail "$mode $flags: $(cat messages)"
        QUIPU_DATA=none ends 0 ./empty
    done
done

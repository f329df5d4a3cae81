// exec in place of another instrumented program, from the depth; the process keeps its number.
// variants: -O0; -O2; clang -O2; -O2 -static
// program: parts/execee.c
// status: 36
#include <unistd.h>

__attribute__((noinline)) static void descend(int depth) {
    if (depth == 0)
        execl("./execee", "execee", "8", (char *)NULL);
    else
        descend(depth - 1);
}

int main(void) {
    descend(6);
    return 1;
}

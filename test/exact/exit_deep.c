// exit in the depth of a recursion, with handlers that run after it.
// variants: -O0; -O2; -O3; clang -O2
// status: 7
// callgrind
#include <stdio.h>
#include <stdlib.h>

static int handled;

static void handler(void) {
    for (int i = 0; i < 5; i++)
        handled += i;
    printf("handler %d\n", handled);
}

__attribute__((noinline)) static int descend(int depth) {
    if (depth == 0)
        exit(7);
    int below = 0;
    for (int i = 0; i < 3; i++)
        below += descend(depth - 1);
    return below + depth;
}

int main(void) {
    if (atexit(handler))
        return 1;
    printf("not reached: %d\n", descend(9));
    return 0;
}

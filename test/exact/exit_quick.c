// _exit in the depth: no handler runs, nothing is flushed by us, nothing is lost.
// variants: -O0; -O2; clang -O2
// status: 3
#include <unistd.h>

static volatile int sink;

__attribute__((noinline)) static void descend(int depth) {
    sink += depth;
    if (depth == 0)
        _exit(3);
    descend(depth - 1);
    sink -= depth;
}

int main(void) {
    descend(20);
    return 0;
}

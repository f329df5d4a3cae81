// An exception that nothing catches: terminate, and the handler ends the program.
// variants: -O0; -O2; clang -O2
// status: 9
#include <cstdio>
#include <cstdlib>
#include <exception>

static volatile int depth;

__attribute__((noinline)) static void throws(int n) {
    depth++;
    if (n == 0)
        throw 1;
    throws(n - 1);
    depth--;
}

static void ends() {
    std::_Exit(9);
}

int main() {
    std::set_terminate(ends);
    throws(5);
    return 0;
}

// A fault in a loop becomes an exception, which is caught by where the loop stands.
#include <csignal>
#include <cstdio>
#include <cstdlib>
static void handler(int) {
    throw 7;
}
__attribute__((noipa)) int fill(volatile long *to, long n) {
    try {
        for (long i = 0; i < n; i++)
            to[i] = i;
    } catch (int x) {
        return x;
    }
    return 0;
}
int main() {
    struct sigaction a = {};
    a.sa_handler = handler;
    a.sa_flags = SA_NODEFER;
    sigaction(SIGSEGV, &a, nullptr);
    long ok[10];
    printf("%d %d\n", fill(ok, 10), fill(nullptr, 10));
}

// Exceptions: through several frames, rethrown, from destructors' frames, nested, by type.
// variants: -O0; -O1; -O2; -O3; -Os; clang -O0; clang -O2; -O2 -static; -O2 -fcf-protection
// callgrind
#include <cstdio>
#include <stdexcept>

static int destroyed;

struct Guard {
    int id;
    explicit Guard(int n) : id(n) {
    }
    ~Guard() {
        destroyed += id;
    }
};

__attribute__((noinline)) static int leaf(int n) {
    if (n % 3 == 0)
        throw n;
    if (n % 5 == 0)
        throw std::runtime_error("five");
    return n * 2;
}

__attribute__((noinline)) static int middle(int n) {
    Guard guard(n);
    int result = leaf(n);
    Guard second(1);
    return result + leaf(n + 1);
}

__attribute__((noinline)) static int rethrows(int n) {
    try {
        return middle(n);
    } catch (int value) {
        if (value > 6)
            throw;
        return -value;
    }
}

__attribute__((noinline)) static int outermost(int n) {
    Guard guard(100);
    try {
        return rethrows(n);
    } catch (const std::exception &e) {
        return e.what()[0];
    } catch (...) {
        try {
            throw 'c';
        } catch (char c) {
            return c + n;
        }
    }
}

int main() {
    int sum = 0;
    for (int i = 0; i < 16; i++)
        sum += outermost(i);
    std::printf("%d %d\n", sum, destroyed);
    return 0;
}

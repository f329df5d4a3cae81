// Returns to functions above and below which exceptions pass: callees that throw, that catch, that
// throw again, and destructors that call.
// variants: -O0; -O2 -fno-inline; clang -O2 -fno-inline
#include <cstdio>

#define OWN __attribute__((noinline)) static

static long sum;

OWN long leaf(long n) {
    sum += n & 7;
    return n + 1;
}

struct Guard {
    long n;
    __attribute__((noinline)) ~Guard() {
        sum += leaf(n) + leaf(n + 1);
    }
};

OWN long may_throw(long n) {
    if (n % 3 == 0)
        throw n;
    return leaf(n);
}

OWN long guarded(long n) {
    Guard guard{n};
    long found = leaf(n);
    return found + may_throw(n) + leaf(found);
}

OWN long recurse(long depth, long n) {
    Guard guard{depth};
    if (depth == 0)
        return guarded(n);
    return recurse(depth - 1, n) + leaf(depth);
}

OWN long again(long n) {
    try {
        return recurse(n & 3, n) + leaf(n);
    } catch (long found) {
        sum += leaf(found);
        if (n % 2)
            throw;
        return leaf(found) + leaf(1);
    }
}

OWN long catches(long n) {
    try {
        return again(n) + leaf(n);
    } catch (...) {
        return leaf(-n) + leaf(2);
    }
}

int main() {
    for (long i = 0; i < 12; i++)
        sum += catches(i) + leaf(i);
    std::printf("%ld\n", sum);
    return 0;
}

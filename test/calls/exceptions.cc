// Exceptions through functions with and without landing pads, thrown on, and out of destructors'
// calls.
// least: 20
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

static int closed;

struct Resource {
    int number;
    explicit Resource(int n) : number(n) {
    }
    __attribute__((noinline)) ~Resource() {
        closed += number;
    }
};

static __attribute__((noinline)) int check(int n) {
    if (n % 4 == 3)
        throw std::runtime_error("three");
    if (n % 5 == 4)
        throw n;
    return n * 2;
}

/* no landing pad */
static __attribute__((noinline)) int plain(int n) {
    int first = check(n);
    return first + check(n + 1);
}

/* one that only cleans up */
static __attribute__((noinline)) int cleaning(int n) {
    Resource resource(n + 1);
    int result = plain(n);
    return result + plain(n + 2);
}

/* one that catches some, and throws others on */
static __attribute__((noinline)) int catching(int n) {
    try {
        return cleaning(n);
    } catch (int number) {
        Resource other(number);
        if (number > 10)
            throw;
        return check(number - 4) + 1;
    }
}

static __attribute__((noinline)) int recursive(int n) {
    Resource resource(1);
    if (n == 0)
        return catching(closed % 7);
    return recursive(n - 1) + check(0);
}

int main() {
    int total = 0;
    for (int i = 0; i < 24; i++) {
        try {
            total += catching(i);
            total += recursive(i % 4);
        } catch (const std::exception &exception) {
            total += check(static_cast<int>(std::string(exception.what()).size()) * 2);
        } catch (...) {
            total += check(5);
        }
    }
    std::printf("%d %d\n", total, closed);
    return 0;
}

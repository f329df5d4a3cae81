// Exceptions through several frames, thrown again, and cleanups on the way.
// watch: counter
// visits: 15
// variants: -O2 -fno-pie -no-pie
#include <cstdio>
#include <stdexcept>
#include <string>

extern "C" {
unsigned long counter;
}

namespace {

struct Cleanup {
    int amount;
    explicit Cleanup(int n) : amount(n) {}
    ~Cleanup() { counter += amount; }
};

__attribute__((noinline)) int deep(int depth, int code) {
    Cleanup cleanup(depth);
    if (depth == 0) {
        if (code % 3 == 0)
            throw code;
        if (code % 3 == 1)
            throw std::runtime_error("one");
        return code;
    }
    for (int i = 0; i < 2; i++)
        counter++;
    return deep(depth - 1, code) + 1;
}

__attribute__((noinline)) int again(int code) {
    try {
        return deep(code % 4, code);
    } catch (int number) {
        counter += number;
        if (number % 2)
            throw;
        return -number;
    }
}

}

int main() {
    int sum = 0;
    for (int i = 0; i < 3; i++) {
        try {
            sum += again(i);
        } catch (const std::exception &error) {
            sum += int(std::string(error.what()).size());
        } catch (int number) {
            sum -= number;
        }
    }
    std::printf("%d %lu\n", sum, counter);
    return 0;
}

// One C++ program of many constructs under many compiler options.
// variants: -O2 -fPIC; -O2 -static; -O2 -static-pie; -O2 -flto; -O3 -march=native; -O2 -masm=intel; -O2 -fcf-protection; -O2 -fstack-protector-all; -O0 -g; -O2 -g -gsplit-dwarf; -O2 -fno-rtti; -O2 -ffunction-sections -Wl,--gc-sections; -O2 -fno-asynchronous-unwind-tables; -O2 -std=c++20 -fcoroutines; -Os -fno-inline; clang -O0; clang -O2 -static; clang -O2 -fPIC; clang -O3 -march=native; clang -O2 -ffunction-sections -Wl,--gc-sections; gcc -O1 -fno-ipa-icf; -O2 -fnon-call-exceptions
// timeout: 1200
#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

struct Shape {
    virtual ~Shape() = default;
    virtual double area() const = 0;
};

struct Square : Shape {
    double side;
    explicit Square(double s) : side(s) {
    }
    double area() const override {
        return side * side;
    }
};

struct Circle : Shape {
    double radius;
    explicit Circle(double r) : radius(r) {
        if (r < 0)
            throw std::invalid_argument("radius");
    }
    double area() const override {
        return 3 * radius * radius;
    }
};

struct Wide : virtual Shape, Square, virtual Circle {
    Wide() : Square(2), Circle(3) {
    }
    double area() const override {
        return Square::area() + Circle::area();
    }
};

template <int N> struct Tower {
    static int height(int n) {
        return n > N ? Tower<N - 1>::height(n - 1) + 1 : Tower<N - 1>::height(n);
    }
};

template <> struct Tower<0> {
    static int height(int n) {
        return n;
    }
};

std::unique_ptr<Shape> make(int kind) {
    switch (kind % 3) {
    case 0: return std::make_unique<Square>(kind);
    case 1: return std::make_unique<Circle>(kind - 4);
    default: return std::unique_ptr<Shape>(static_cast<Square *>(new Wide));
    }
}

int started = [] { return Tower<3>::height(9); }();

} // namespace

int main() {
    double area = 0;
    int failures = 0;
    for (int i = 0; i < 9; i++) {
        try {
            area += make(i)->area();
        } catch (const std::invalid_argument &) {
            failures++;
        }
    }
    std::map<std::string, int> words;
    for (const char *word : {"one", "two", "one", "three", "two", "one"})
        words[word]++;
    std::vector<int> numbers{5, 3, 8, 1, 9, 2};
    std::sort(numbers.begin(), numbers.end(), [&](int a, int b) { return a * 2 > b * 2; });
    std::function<int(int)> sum = [&](int n) { return n == 0 ? 0 : n + sum(n - 1); };
    std::printf("%.1f %d %d %d %d %d\n", area, failures, words["one"], numbers[0], sum(6), started);
    return 0;
}

// Stores around exceptions: in front of calls that throw, in landing pads, in destructors on the
// way, in constructors of what is thrown; virtual calls, lambdas, templates, function-local statics.
// unfiltered
// watch: log_of = log_of:256
// watch: state = state:16
// watch: state.depth = state+4:4
// variants: -O2; -O0; -O2 -fno-pie -no-pie; clang -O2 -fPIE; -O3; -Os; -O2 -masm=intel
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

struct states {
    int caught, depth, alive, last;
} state;
int log_of[64];
static int at;

static void note(int value) {
    log_of[at++ & 63] = value;
}

struct guard {
    int number;
    explicit guard(int n) : number(n) {
        state.alive++;
        note(100 + n);
    }
    ~guard() {
        state.alive--;
        note(200 + number);
    }
};

struct problem : std::runtime_error {
    int code;
    explicit problem(int c) : std::runtime_error("problem " + std::to_string(c)), code(c) {
        state.last = c;
    }
};

struct base {
    virtual ~base() { state.alive -= 10; }
    virtual void work(int n) = 0;
};

__attribute__((noinline)) static int descend(int n) {
    guard g(n);
    state.depth = n;
    if (n == 0)
        throw problem(state.alive);
    int below = descend(n - 1);
    state.depth = -n;
    return below + 1;
}

struct thrower : base {
    std::vector<int> seen;
    void work(int n) override {
        seen.push_back(n);
        try {
            descend(n);
        } catch (const std::out_of_range &) {
            state.caught = -1;
        } catch (problem &p) {
            state.caught += p.code;
            note(p.code);
            p.code++;
            if (n % 2)
                throw;
        }
        state.depth = 99;
    }
};

template <typename T> struct counter {
    static T &value() {
        static T one = T(state.alive + 3);
        return one;
    }
};

int main() {
    for (int i = 1; i < 4; i++) {
        try {
            thrower t;
            state.alive += 10;
            base *b = &t;
            b->work(i);
        } catch (const std::exception &e) {
            state.caught |= 1 << (i + 8);
            note((int)std::string(e.what()).size());
        }
        auto add = [i](int n) { log_of[n] += i; };
        add(i);
        state.last = (int)(counter<long>::value()++);
    }
    std::printf("%d %d\n", state.caught, log_of[5]);
    return 0;
}

// C++: a class's static member, in a namespace and in a template, by references, vectors of pointers,
// smart pointers, bases and members of classes; exceptions are thrown on the way.
// watch: _ZN5store4poolIlE5totalE
// word: store::pool<long>::total
// same: pool<long int>::total
// same: pool< signed long >::total
// same: total_of
// same: *totals._M_impl._M_start[1]
// same: *shelf.at
// same: room->inside.seen + 0
// far: (totals._M_impl._M_finish - totals._M_impl._M_start == 2 && shelf.at && room && room->inside.level > 0 ? total_of : 0)
// looks: 4
// timeout: 600
// variants: -O1; -O2 -fno-pie -no-pie; clang -O2 -fPIE
#include <stdexcept>
#include <vector>

namespace store {
template <typename T> struct pool {
    static T total;
    static void add(T value) { total += value; }
};
template <typename T> T pool<T>::total = T();

struct base {
    int tag = 1;
    long *at = &pool<long>::total;
    virtual ~base() {}
};
struct item : base {
    static int made;
    explicit item(int weight) : weight(weight) { made++; }
    int weight;
};
int item::made = 0;
struct inner {
    long &seen;
    int level;
};
struct outer {
    int first;
    inner inside;
};
} // namespace store

namespace {
store::outer only = {1, {store::pool<long>::total, 3}};
}

store::outer *room = &only;
store::item shelf(5);
long &total_of = store::pool<long>::total;
std::vector<long *> totals = {nullptr, &store::pool<long>::total};

__attribute__((noinline)) static long take(long n) {
    if (n % 11 == 0)
        throw std::runtime_error("none left");
    store::pool<long>::add(n);
    return store::pool<long>::total;
}

int main() {
    long sum = 0;
    for (long i = 1; i < 60; i++) {
        try {
            store::item more(static_cast<int>(i));
            sum ^= take(i);
            sum += more.weight;
        } catch (const std::exception &) {
            total_of += 7;
        }
    }
    return sum == 12345;
}

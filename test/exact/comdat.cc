// COMDAT functions: templates and inline functions that stand in two units; the linker keeps one.
// with: parts/comdat_other.cc
// variants: -O0; -O2; -O3; clang -O0; clang -O2; -O0 -ffunction-sections -Wl,--gc-sections; -O2 -fPIC
#include "parts/comdat.h"

#include <cstdio>

int main() {
    Shape<int> ints;
    Shape<double> doubles;
    int sum = 0;
    for (int i = 0; i < 9; i++) {
        ints.add(i);
        doubles.add(i * 0.5);
        sum += twice(i);
    }
    std::printf("%d %d %.1f %d %d\n", sum, ints.total(), doubles.total(), other(5), counter());
    return 0;
}

// The other unit of comdat.cc.
#include "comdat.h"

int other(int n) {
    Shape<int> shape;
    for (int i = 0; i < n; i++)
        shape.add(twice(i));
    Shape<long> longs;
    longs.add(n);
    return shape.total() + static_cast<int>(longs.total());
}

// objects.cc: code in groups, which the linker keeps once (COMDAT).
#include "lines.h"

int of_objects(int value) {
    stack<int> numbers = {};
    stack<long> others = {};
    for (int i = 0; i < value; i++) {
        numbers.push(i);
        others.push(i);
    }
    return numbers.pop() + static_cast<int>(others.pop());
}

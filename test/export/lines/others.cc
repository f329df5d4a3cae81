// others.cc: the same groups once more, perhaps of another size.
#include "lines.h"

int of_others(int value) {
    stack<int> numbers = {};
    stack<char> letters = {};
    while (value-- > 0) {
        numbers.push(value);
        letters.push('a');
    }
    return numbers.pop() + letters.pop();
}

// Calls of all sorts, for calling contexts: the tests make the numbers.
#include <cstdio>
#include <cstdlib>

namespace tree {
__attribute__((noinline)) int look_up(int key) {
    return key * 7 % 31;
}

__attribute__((noinline)) int scan(int count) {
    int sum = 0;
    for (int i = 0; i < count; i++)
        sum += look_up(i);
    sum += look_up(-count);
    return sum;
}
} // namespace tree

__attribute__((noinline)) int fibonacci(int n) {
    if (n < 2)
        return n;
    int first = fibonacci(n - 1);
    return first + fibonacci(n - 2);
}

static int compare(const void *left, const void *right) {
    return *static_cast<const int *>(left) - *static_cast<const int *>(right);
}

int main() {
    int numbers[] = {5, 3, 8, 1};
    int sum = tree::scan(10);
    sum += tree::scan(20);
    sum += fibonacci(9);
    std::qsort(numbers, 4, sizeof *numbers, compare);
    std::printf("%d %d\n", sum, numbers[0]);
    return 0;
}

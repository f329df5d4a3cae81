// Nested functions, called directly and through a pointer (a trampoline), with a goto out.
// variants: gcc -O0; gcc -O1; gcc -O2; gcc -O3
#include <stdio.h>

static int apply(int (*function)(int), int n) {
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += function(i);
    return sum;
}

__attribute__((noinline)) static int outer(int base) {
    __label__ out;
    int calls = 0;
    int add(int value) {
        calls++;
        if (calls > 12)
            goto out;
        return value + base;
    }
    int sum = add(3) + apply(add, 5);
    sum += apply(add, base);
out:
    return sum * 100 + calls;
}

int main(void) {
    for (int i = 1; i < 10; i += 2)
        printf("%d\n", outer(i));
    return 0;
}

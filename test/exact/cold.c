// f.cold: the unlikely part of a function stands elsewhere, is jumped to, and jumps back.
// status: 4
// variants: -O2; -O3; -O2 -fPIC; -O2 -ffunction-sections; gcc -O2 -fno-reorder-functions; -Os; clang -O2
#include <stdio.h>
#include <stdlib.h>

__attribute__((cold, noinline)) static int complain(int n) {
    printf("odd thing: %d\n", n);
    return n / 2;
}

__attribute__((noinline)) static int work(int n, int limit) {
    int sum = 0;
    for (int i = 0; i < n; i++) {
        if (__builtin_expect(i > limit, 0)) {
            sum -= complain(i);
            if (i % 7 == 0)
                sum += complain(-i);
            if (i % 5 == 0)
                continue;
            for (int j = 0; j < 3; j++)
                complain(j);
        }
        sum += i;
    }
    return sum;
}

__attribute__((noinline)) static int other(int n) {
    if (__builtin_expect(n < 0, 0)) {
        complain(n);
        exit(4);
    }
    return n + 1;
}

int main(void) {
    printf("%d %d\n", work(12, 9), work(5, 30));
    printf("%d\n", other(3));
    return other(-1) & 0;
}

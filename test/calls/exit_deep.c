// The process ends in the middle of calls: what runs then has all that it has counted by then.
// least: 5
#include <stdio.h>
#include <stdlib.h>

static __attribute__((noinline)) int work(int n) {
    return n < 2 ? 1 : work(n - 1) + work(n - 2);
}

static __attribute__((noinline)) void at_end(void) {
    printf("%d\n", work(4));
}

static __attribute__((noinline)) int fall(int n) {
    int before = work(n);
    if (n == 3)
        exit(before);
    return fall(n - 1) + before;
}

int main(void) {
    atexit(at_end);
    work(5);
    return fall(6);
}

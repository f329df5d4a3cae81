// Calls between an executable and a shared object, both ways, with exceptions of C: longjmp.
// variants: -O0; -O2; clang -O2; -O2 -fPIC
// shared: parts/library.c
// least: 20
#include "parts/library.h"

#include <setjmp.h>
#include <stdio.h>

static jmp_buf back;

static __attribute__((noinline)) int work(int n) {
    return n < 2 ? 1 : work(n - 1) + work(n - 2);
}

static __attribute__((noinline)) int own(int n) {
    int before = work(n % 5);
    if (n == 7)
        return before + library_apply(own, 3);
    if (n == 9)
        longjmp(back, 1);
    return before + library_sum(n);
}

int main(void) {
    int total = work(4);
    for (volatile int i = 0; i < 12; i++) {
        if (setjmp(back) == 0)
            total += library_apply(own, i);
        else
            total += library_sum(3) + work(2);
        total += work(3) + library_jump(i);
    }
    printf("%d\n", total);
    return 0;
}

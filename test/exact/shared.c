// A shared object that is linked to the program, with constructors of its own, calling back.
// shared: parts/library.c
// libraries: ./library.so
// whole
// variants: -O0; -O2; clang -O2; -O2 -Wl,-z,now -fcf-protection
#include <stdio.h>

int library_sum(int n, int (*weight)(int));
int library_started(void);

__attribute__((noinline)) static int weight(int n) {
    return n % 3 ? n : -n;
}

int main(void) {
    printf("%d %d\n", library_sum(10, weight), library_started());
    return 0;
}

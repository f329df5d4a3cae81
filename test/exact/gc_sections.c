// --gc-sections drops functions; what is dropped leaves nothing behind.
// flags: -ffunction-sections -fdata-sections -Wl,--gc-sections
// with: parts/unused.c
// variants: -O0; -O2; clang -O2; -O2 -static; -O2 -fPIC
#include <stdio.h>

int used(int n);

int never_called(int n) {
    return n > 5 ? used(n) : n;
}

int also_never_called(int n) {
    while (n > 3)
        n -= never_called(n);
    return n;
}

int main(void) {
    int sum = 0;
    for (int i = 0; i < 8; i++)
        sum += used(i);
    printf("%d\n", sum);
    return 0;
}

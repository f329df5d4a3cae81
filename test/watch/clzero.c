// AMD's instruction that clears the cache line of an address in a register.
// requires: clzero
// watch: lines = lines:192
// watch: lines[60..70] = lines+60:11
// variants: -O2; -O0; clang -O2
#include <stdio.h>
#include <string.h>

_Alignas(64) unsigned char lines[192];

__attribute__((noinline)) static void clear(void *at) {
    __asm__ volatile("clzero" ::"a"(at) : "memory");
}

int main(void) {
    for (unsigned i = 0; i < sizeof lines; i++)
        lines[i] = (unsigned char)(i + 1);
    clear(lines + 64);
    clear(lines + 63);
    clear(lines + 191);
    printf("%d\n", lines[100]);
    return 0;
}

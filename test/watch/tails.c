// Jumps that end functions, to what is not instrumented.
// watch: text = text:64
// address: end = end:8
// flags: -O2
// variants: ; -fPIC; -fno-plt; clang
#include <stdlib.h>
#include <string.h>

char text[64];
char *end = text;

__attribute__((noipa)) void *copy(void *to, const void *from, size_t size) {
    return memcpy(to, from, size);
}

__attribute__((noipa)) long number(const char *digits) {
    return strtol(digits, &end, 10);
}

int main(void) {
    for (int i = 0; i < 3; i++)
        copy(text + 9 * i, "12345 tail", 10);
    return number(text) == 0;
}

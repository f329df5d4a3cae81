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

/* Its other jump is a switch's. */
__attribute__((noipa)) void *choose(int kind, void *to, const void *from, size_t size) {
    switch (kind) {
    case 0:
        return (void *)strchr(from, 'a');
    case 1:
        return memcpy(to, from, size);
    case 2:
        return (void *)strrchr(from, 'i');
    case 3:
        return memmove(to, from, size / 2);
    case 4:
        return (void *)strpbrk(from, "xyz");
    case 5:
        return memset(to, '-', size);
    default:
        return to;
    }
}

int main(void) {
    for (int i = 0; i < 3; i++)
        copy(text + 9 * i, "12345 tail", 10);
    for (int i = 0; i < 7; i++)
        choose(i, text + 30 + i, "switched tail", 13);
    return number(text) == 0;
}

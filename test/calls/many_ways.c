// More ways than the first table of links has room for, and each of them more than once.
// least: 1360
#include <stdio.h>

static volatile int count;

#define LEVEL(name, next)                                                                          \
    __attribute__((noinline)) static void name(void) {                                             \
        next();                                                                                    \
        next();                                                                                    \
        next();                                                                                    \
        next();                                                                                    \
        count++;                                                                                   \
    }

__attribute__((noinline)) static void leaf(void) {
    count++;
}

LEVEL(five, leaf)
LEVEL(four, five)
LEVEL(three, four)
LEVEL(two, three)
LEVEL(one, two)

int main(void) {
    for (int i = 0; i < 2; i++)
        one();
    printf("%d\n", count);
    return 0;
}

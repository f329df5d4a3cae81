// Padding in front of aligned loops, which a jump that is not taken leads to: asked there, too, it is
// not taken.
// variants: -O2 -falign-loops=32; -O2 -falign-loops=64 -falign-jumps=64; clang -O2
// every: 3
#include <stdio.h>

__attribute__((noinline)) static unsigned mix(const unsigned char *at, unsigned length, unsigned sum) {
    if (!length)
        return sum;
    do
        sum = (sum ^ *at++) * 16777619u;
    while (--length);
    return sum;
}

__attribute__((noinline)) static long find(const long *list, long wanted) {
    long i = 0;
    if (list[0] > wanted)
        return -1;
    while (list[i] != wanted) {
        if (list[i] > wanted)
            return -2;
        i++;
    }
    return i;
}

int main(void) {
    static const unsigned char text[] = "padding stands in front of loops";
    static const long list[] = {2, 3, 5, 7, 11, 13, 17, 19, 1000};
    unsigned sum = 0;
    for (unsigned i = 0; i < sizeof text; i++)
        sum = mix(text + i, sizeof text - i - 1, sum);
    for (long i = 0; i < 25; i++)
        sum = sum * 31 + (unsigned)find(list, i);
    printf("%u\n", sum);
    return 0;
}

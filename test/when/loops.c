// A table that grows and shrinks, in functions, recursion and the C library; the word goes up and
// down, so that some conditions hold for a few instructions only.
// watch: all
// word: all.sum
// same: where->sum
// same: (*places[1]).sum + 0
// same: *&all.sum
// same: places[1][0].numbers[0]
// same: 'a' == 97 && where ? where->sum : 0
// far: (places[0] || places[2] || !places[1] || !where || where->other < 0 ? 0 : all.sum)
// variants: -O0; -O2; -O2 -fno-pie -no-pie; clang -O1
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct table {
    union {
        unsigned long sum;
        unsigned long numbers[1];
    };
    int other;
};

struct table all;
struct table *where = &all;
struct table *places[3] = {0, &all, 0};

__attribute__((noinline)) static void set(unsigned long value) {
    where->sum = value;
    where->other++;
}

__attribute__((noinline)) static unsigned long fall(unsigned long n) {
    if (n == 0)
        return 0;
    unsigned long below = fall(n - 1);
    *(volatile unsigned long *)&all.sum += n;
    *(volatile unsigned long *)&all.sum -= n; /* back */
    return below + n;
}

static int compare(const void *left, const void *right) {
    return *(const int *)left - *(const int *)right;
}

int main(int argc, char **argv) {
    int numbers[40];
    (void)argv;
    for (int i = 0; i < 40; i++)
        numbers[i] = (i * 37) % (100 + argc);
    for (unsigned long i = 1; i < 60; i++) {
        set(i * 3);
        if (i % 7 == 0)
            fall(i % 11);
        if (i % 13 == 0)
            qsort(numbers, 40, sizeof *numbers, compare);
    }
    memset(&places[1]->sum, 1 + numbers[0], sizeof all.sum); /* a library writes it */
    printf("%lu %d\n", all.sum, numbers[3]);
    return 0;
}

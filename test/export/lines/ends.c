/* ends.c: its line table has a row right at its end, as the last lines have no instruction. */
#include "lines.h"

void stop(int code);

/* Alike in instructions: folded by --icf. */
int twice_of_one(int value) {
    return value * 2 + held;
}
int twice_of_two(int value) {
    return value * 2 + held;
}

/* Dropped by --gc-sections. */
int dropped(int value) {
    for (int i = 0; i < value; i++)
        held += i * held;
    return held;
}

static int inner(int value) {
    return value * held + 7;
}

int outer(int value) {
    int sum = 0;
    for (int i = 0; i < value; i++)
        sum += inner(i);
    return sum + doubled(value);
}

int checked(int value) {
    if (value)
        stop(value);
    __builtin_unreachable();
}

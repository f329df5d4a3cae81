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

/* Not to return is said in a function of its own: so there are rows of several lines at the end.
 * One alone is no trap, since libdw takes what is last of all in a unit for an end. */
static inline _Noreturn void never(void) {
    __builtin_unreachable();
}

int checked(int value) {
    if (value)
        stop(value);
    never();
}

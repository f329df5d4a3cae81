/* Calls of one function with values of all kinds, for conditions of breakpoints. */
#include <stddef.h>
#include <stdint.h>

struct item {
    int number;
    unsigned char flag : 3, other : 5;
    int low : 9;
    struct item *next;
    short values[4];
};

enum color {
    RED,
    GREEN = 5,
    BLUE
};

static struct item items[3];
volatile int turn, total;
static volatile _Thread_local int own;
static volatile double real;

__attribute__((noinline)) static int visit(struct item *item, int i, unsigned u, signed char c,
                                           enum color color, unsigned long wide) {
    static volatile int *where = &turn;
    total += *where + i + (int)u + c + (int)color + (int)(wide >> 60) + (item ? item->number : 0);
    return total;
}

__attribute__((noinline)) static void bound(int which) {
    total += which;
}

int main(void) {
    static const enum color colors[] = {RED, GREEN, BLUE};
    bound(0);
    for (turn = 0; turn < 16; turn++) {
        struct item *item = &items[turn % 3];
        own = turn % 4;
        real = turn / 4.0;
        item->number = turn - 8;
        item->flag = turn % 8;
        item->low = -turn;
        item->next = turn % 5 ? &items[(turn + 1) % 3] : NULL;
        item->values[turn % 4] = (short)(-turn * 1000);
        visit(turn % 7 ? item : NULL, turn - 8, (unsigned)turn - 10, (signed char)(turn * 13),
              colors[turn % 3], UINT64_MAX / 16 * (unsigned)turn);
    }
    bound(1);
    return total == 12345;
}

/* table.c: the other file of the program. */
#include "table.h"

enum { SIZE = 64 };

static int table[SIZE];

void table_put(int key, int value) {
    int place = clamp(key, 0, SIZE - 1);
    table[place] = clamp(value, -1000, 1000);
}

int table_sum(void) {
    int sum = 0;
    for (int i = 0; i < SIZE; i++)
        if (table[i] > 0)
            sum += table[i];
    return sum;
}

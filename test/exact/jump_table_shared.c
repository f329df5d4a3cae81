// Switches whose cases share labels, tables merged, tails joined; and a table of one entry's loop.
// flags: -fno-jump-tables
// variants: -O2; clang -O2; -O2 -fjump-tables; -O3 -fjump-tables; -Os -fjump-tables; -O2 -fjump-tables -funroll-loops; -O2 -fjump-tables -ftracer
#include <stdio.h>

__attribute__((noinline)) static int weigh(int kind, int value) {
    switch (kind) {
    case 0: case 3: case 6: case 9: return value + 1;
    case 1: case 4: case 7: return value * 2;
    case 2: case 5: return value ^ 5;
    case 8:
        while (value > 3)
            value /= 2;
        return value;
    }
    return 0;
}

__attribute__((noinline)) static int twice(int kind, int value) {
    int sum = 0;
    switch (kind) {
    case 0: sum += 3; break;
    case 1: sum += value; break;
    case 2: sum -= value; break;
    case 3: sum = value * value; break;
    case 4: sum = 17; break;
    case 5: sum = value << 3; break;
    }
    switch (kind ^ 1) {
    case 0: sum += 5; break;
    case 1: sum *= value; break;
    case 2: sum /= value + 1; break;
    case 3: sum -= value * 3; break;
    case 4: sum ^= 9; break;
    case 5: sum |= 1; break;
    }
    return sum;
}

int main(void) {
    int sum = 0;
    for (int i = 0; i < 40; i++)
        sum += weigh(i % 11, i) + twice(i % 7, i);
    printf("%d\n", sum);
    return 0;
}

// Goes all ways through what padding_entered.s defines.
#include <stdio.h>

long to_end(long which);
long to_label(long which);
long to_entry(long n);
long to_second(long which);

int main(void) {
    long sum = 0;
    for (long i = 0; i < 20; i++)
        sum = sum * 3 + to_end(i % 3) + to_label(i % 4) + to_entry(i) + to_second(i % 3);
    printf("%ld\n", sum);
    return 0;
}

// Calls what assembly.S and assembly_intel.s define.
#include <stdio.h>

long sum_to(long n);
int pick(unsigned n);
long uses_r11(long n);
long count_down(long n);

int main(void) {
    long sum = 0;
    for (long i = -1; i < 6; i++)
        sum += sum_to(i) * 3 + pick((unsigned)i) + uses_r11(i * 30);
    printf("%ld %ld %ld\n", sum, count_down(7), count_down(1));
    return 0;
}

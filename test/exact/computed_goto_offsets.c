// Computed goto by differences of labels, as position-independent interpreters do, and a label's
// address taken where several functions do so.
// variants: -O0; -O2; -O3; clang -O2; -O2 -fPIC
#include <stdio.h>

__attribute__((noinline)) static int run(const unsigned char *code) {
    static const int offsets[] = {&&zero - &&zero, &&one - &&zero, &&two - &&zero};
    int sum = 0;
    goto *(&&zero + offsets[*code++]);
two:
    sum += 20;
    goto *(&&zero + offsets[*code++]);
one:
    sum += 3;
    goto *(&&zero + offsets[*code++]);
zero:
    return sum;
}

__attribute__((noinline)) static int choose(int n) {
    void *const to = n % 2 ? &&odd : &&even;
    int sum = n;
    goto *to;
odd:
    sum *= 3;
even:
    return sum + 1;
}

int main(void) {
    int sum = run((const unsigned char *)"\1\2\2\1") + run((const unsigned char *)"\2\1");
    for (int i = 0; i < 7; i++)
        sum += choose(i);
    printf("%d\n", sum);
    return 0;
}

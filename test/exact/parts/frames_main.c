// Calls what assembly_frames.s has.
#include <stdio.h>

long work(long, long *);
long other(long, long *);
void marked(long);

int main(void) {
    long a[3] = {0}, result = work(5, a);
    result += other(3, a) + other(1, a);
    for (long i = 1; i < 6; i++)
        marked(i);
    printf("%ld %ld %ld\n", result, a[0], a[1]);
    return 0;
}

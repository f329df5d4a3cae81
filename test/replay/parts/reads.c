/* reads.c: reads and writes a variable, each in a function of its own. */
#include <stdio.h>

volatile int seen = 5;
volatile int sum;

int reader(int by) {
    return seen + by;
}

void writer(int to) {
    seen = to;
}

int main(void) {
    for (int i = 0; i < 3; i++) {
        sum += reader(i);
        for (volatile int wait = 0; wait < 50; wait++)
            ;
        writer(i + 1);
    }
    printf("%d\n", sum);
    return 0;
}

// The program's own functions have names of the C library's that always return; they do not.
// with: parts/named_functions.c
// flags: -w -fno-builtin
// variants: -O0; -O1; -O2
#include <setjmp.h>

jmp_buf again;
volatile int behind;
void log(int);
void trunc(const char *);

static __attribute__((noinline)) void work(int i) {
    log(i); /* does not return for odd numbers */
    behind = i;
}

static __attribute__((noinline)) void end(void) {
    behind = 1;
    trunc("x");
    behind = 2;
}

int main(void) {
    for (volatile int i = 0; i < 10; i++)
        if (!setjmp(again))
            work(i);
    end();
    return 0;
}

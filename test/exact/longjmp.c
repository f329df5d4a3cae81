// longjmp over several frames, setjmp returning many times, and sigsetjmp.
// variants: -O0; -O1; -O2; -O3; clang -O0; clang -O2
// callgrind
#include <setjmp.h>
#include <stdio.h>

static jmp_buf outer;
static sigjmp_buf other;
static volatile int work;

__attribute__((noinline)) static void inner(int depth, int value) {
    work++;
    if (depth == 0)
        longjmp(outer, value);
    for (int i = 0; i < 2; i++)
        inner(depth - 1, value);
    work--;
}

__attribute__((noinline)) static int catches(int rounds) {
    volatile int round = 0;
    int got = setjmp(outer);
    if (got == 0)
        work = 0;
    round++;
    if (round < rounds)
        inner(round % 4, round);
    return got;
}

__attribute__((noinline)) static void jump_other(int value) {
    if (value > 2)
        siglongjmp(other, value);
    work += value;
}

int main(void) {
    printf("%d %d\n", catches(10), work);
    volatile int count = 0;
    for (int i = 0; i < 6; i++)
        if (sigsetjmp(other, 1) == 0)
            jump_other(i);
        else
            count++;
    printf("%d %d\n", count, work);
    return 0;
}

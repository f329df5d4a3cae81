// The program has an allocating function of its own, to which functions jump at their end. It is
// traced, calls back, and is left by longjmp.
// modes: trace; moment,trace
// variants: -O2; -O2 -fPIE -pie; clang -O2
// counts
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#define APART __attribute__((noinline))

static char memory[1 << 16];
static size_t used;
static jmp_buf full;
static int calls;

APART static void *get(size_t size);

APART void *aligned_alloc(size_t alignment, size_t size) {
    if (size > sizeof memory - used)
        longjmp(full, 1);
    if (calls++ % 5 == 0)
        get(8);
    used += size;
    return memory + (used - size) / alignment * alignment;
}
APART static void *get(size_t size) {
    calls += size > 100;
    return aligned_alloc(16, size);
}
APART static char *fill(size_t size) {
    char *block = get(size);
    for (size_t i = 0; i < size; i++)
        block[i] = (char)i;
    return block;
}

int main(void) {
    volatile long sum = 0;
    for (int round = 0; round < 3; round++) {
        used = 0;
        if (setjmp(full) == 0)
            for (;;)
                sum += fill(16 + (size_t)calls % 300)[3];
    }
    printf("%ld %d\n", sum, calls);
    return 0;
}

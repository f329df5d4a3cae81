// Functions that begin with no-operations, over which the program writes code: where the table says
// that they are, and at the functions' addresses, as tracers do.
// variants: -O2 -fPIC -fcf-protection -fpatchable-function-entry=5; -O0 -fpatchable-function-entry=7,2; clang -O2 -fpatchable-function-entry=5; gcc -O2 -fno-pie -no-pie -pg -mfentry -mrecord-mcount -mnop-mcount -DCOUNTED
// whole: the code changes itself
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

typedef unsigned char byte;
#ifdef COUNTED
extern byte *__start___mcount_loc[], *__stop___mcount_loc[];
#define START __start___mcount_loc
#define STOP  __stop___mcount_loc
#else
extern byte *__start___patchable_function_entries[], *__stop___patchable_function_entries[];
#define START __start___patchable_function_entries
#define STOP  __stop___patchable_function_entries
#endif

__attribute__((noinline)) int leaf(int a) {
    return a * 3;
}

__attribute__((noinline)) int loop(int a) {
    int sum = 0;
    for (int i = 0; i < a; i++)
        sum += leaf(i);
    return sum;
}

/* Whose loop begins where the function does. */
__attribute__((noinline)) int down(int a) {
    do
        __asm__ volatile("" : "+r"(a));
    while (--a);
    return a;
}

static int is_fillings(const byte *code) {
    return memcmp(code, "\x90\x90\x90\x90\x90", 5) == 0 || memcmp(code, "\x0f\x1f\x44", 3) == 0;
}

static const byte *begin_of(int function(int)) {
    const byte *code = (const byte *)(uintptr_t)function;
    return memcmp(code, "\xf3\x0f\x1e\xfa", 4) == 0 ? code + 4 : code;
}

int main(void) {
    int (*const functions[])(int) = {leaf, loop, down};
    int wrong = 0, count = 0;
    printf("%d %d %d\n", leaf(4), loop(10), down(5));
    for (int i = 0; i < 3; i++)
        printf("%d ", *begin_of(functions[i]) == 0x90 || is_fillings(begin_of(functions[i])));
    for (byte **entry = START; entry < STOP; entry++, count++) {
        byte *page = (byte *)((uintptr_t)*entry & ~4095ul);
        wrong += !is_fillings(*entry);
        if (!is_fillings(*entry))
            continue;
        mprotect(page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC);
        if (**entry == 0x90)
            memset(*entry, 0xf8, 5); /* of the same lengths, so that all have counts */
        else
            (*entry)[4] ^= 1;
        mprotect(page, 8192, PROT_READ | PROT_EXEC);
    }
    printf("%d of %d wrong\n", wrong, count);
    printf("%d %d %d\n", leaf(4), loop(10), down(5));
    return 0;
}

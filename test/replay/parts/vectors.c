// Binds functions while all vectors are 0, one of them by a load from memory.  Some processors take
// that for one in use until a switch of context, as at 'between': so what the loader's xsavec
// stores depends on who stops where.
#include <stdlib.h>

enum {
    WORDS = 400 // that hold the vectors
};

// What is not stored there is not 0.
__attribute__((noinline)) static void soil(long word) {
    volatile long stack[WORDS];
    for (int i = 0; i < WORDS; i++)
        stack[i] = word;
}

__attribute__((noinline)) static void clear(void) {
    static const char zeros[16];
    __asm__ volatile("vzeroall\n\t"
                     "movdqu (%0), %%xmm0\n"
                     ".globl between\n"
                     "between:\n\t"
                     "nop"
                     :
                     : "r"(zeros)
                     : "xmm0");
}

int main(void) {
    soil(1);
    clear();
    int sum = rand();
    soil(2);
    clear();
    srand(1);
    return sum == 0;
}

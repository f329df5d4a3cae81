// Inline assembly: flags that live, short jumps, string instructions.
// variants: -O0; -O2; clang -O2
// every: 11
#include "../exact/inline_asm.c"

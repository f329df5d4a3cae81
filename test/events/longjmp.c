// longjmp over several frames, and setjmp that returns many times.
// variants: -O0; -O2; clang -O2
#include "../exact/longjmp.c"

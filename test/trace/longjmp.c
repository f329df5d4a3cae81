// Calls that are left by longjmp.
// modes: trace; moment,trace
// variants: -O0; -O2; -O3; clang -O2
#include "../exact/longjmp.c"

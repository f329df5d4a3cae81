// Recursion.
// variants: -O0; -O2; -Os; clang -O2
#include "../exact/recursion.c"

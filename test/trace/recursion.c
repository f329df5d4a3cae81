// Recursion.
// variants: -O1; -O2; -O3; clang -O2
#include "../exact/recursion.c"

// Unrolled loops.
// variants: -O2; clang -O2
// every: 211
#include "../exact/loops_small.c"

// Tail calls.
// variants: -O2; -Os; clang -O2
#include "../exact/tail_calls.c"

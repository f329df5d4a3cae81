// Jumps to other functions.
// variants: -O2; clang -O2
#include "../exact/tail_calls.c"

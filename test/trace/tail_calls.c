// Jumps to other functions.
// modes: trace; moment,trace
// variants: -O2; clang -O2
#include "../exact/tail_calls.c"

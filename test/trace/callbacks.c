// The C library calls back.
// modes: trace; moment,trace
// variants: -O0; -O2; clang -O2
#include "../exact/callbacks.c"

// The C library calls back.
// variants: -O0; -O2; clang -O2
#include "../exact/callbacks.c"

// Signal handlers on a stack of their own.
// variants: -O2; clang -O2
#include "../exact/signals_stack.c"

// Signal handlers, nested, and one that leaves by siglongjmp.
// modes: trace; moment,trace
// variants: -O0; -O2; clang -O2
#include "../exact/signals.c"

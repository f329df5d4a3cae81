// Signal handlers, nested, and one that leaves by siglongjmp.
// variants: -O0; -O2; clang -O2
#include "../exact/signals.c"

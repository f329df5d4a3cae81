// Instructions that fault, with a handler that goes on elsewhere.
// variants: -O2; -O0; clang -O2
// no-trace
#include "../exact/fixups.c"

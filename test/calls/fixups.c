// Instructions that fault, with a handler that goes on elsewhere.
// variants: -O2; -O0; -O2 -fPIC; clang -O2
#include "../exact/fixups.c"

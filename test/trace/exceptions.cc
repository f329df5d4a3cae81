// Exceptions, which arrive at landing pads.
// variants: -O0; -O2; clang -O2
// counts
#include "../exact/exceptions.cc"

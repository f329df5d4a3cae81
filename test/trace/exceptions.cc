// Exceptions, which arrive at landing pads.
// modes: trace; moment,trace
// variants: -O0; -O2; clang -O2
// counts
#include "../exact/exceptions.cc"

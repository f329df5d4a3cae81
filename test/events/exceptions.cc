// Exceptions through several frames.
// variants: -O0; -O2; clang -O2
#include "../exact/exceptions.cc"

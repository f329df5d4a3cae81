// An interpreter with one table of labels for all its indirect jumps.
// variants: -O0; -O2; clang -O2
#include "../exact/computed_goto.c"

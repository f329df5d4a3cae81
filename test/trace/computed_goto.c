// Jumps through tables of labels.
// modes: trace; moment,trace
// variants: -O0; -O2; -O3; clang -O2
#include "../exact/computed_goto.c"

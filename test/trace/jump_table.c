// Switches.
// modes: trace; moment,trace
// variants: -O2; -O3; clang -O2
#include "../exact/jump_table.c"

// Switches.
// variants: -O0; -O2; -O2 -fcf-protection; clang -O2
#include "../exact/jump_table.c"

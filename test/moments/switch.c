// Switches, with tables and without, in loops.
// visits: 15
// variants: -O0 -fno-pie -no-pie; -O2; -O2 -fno-pie -no-pie -fcf-protection; clang -O2 -fPIC; clang -O2 -no-pie -fno-pie
#include "../exact/jump_table.c"

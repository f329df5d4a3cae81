// Computed goto: all jumps of the interpreter share their targets.
// hubs: interpret
// visits: 15
// variants: -O0 -fno-pie -no-pie; -O2; -O2 -fno-pie -no-pie; clang -O2 -fPIE; clang -O2 -no-pie -fno-pie
#include "../exact/computed_goto.c"

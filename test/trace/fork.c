// Forked processes.
// modes: trace; moment,trace
// variants: -O0; -O2
// counts
#include "../exact/fork.c"

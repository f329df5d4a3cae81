// Forked processes.
// variants: -O0; -O2
// counts
#include "../exact/fork.c"

// A child of vfork that executes another program.
// variants: -O2
// counts
#include "../exact/vfork_exec.c"

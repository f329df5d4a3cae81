// The calls of a program whose functions begin with padding.  At -O1 alone there is none, and their first
// instructions are heads of loops, which have no code: runtime/calls_loop_at_entry.
// flags: -fno-align-functions
// variants: -O2; -O1 -falign-loops=32
// least: 4
#include "../exact/padding_first.c"

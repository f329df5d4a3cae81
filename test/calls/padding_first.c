// The calls of a program whose functions begin with padding.  At -O1 alone there is none, and their first
// instructions are heads of loops.
// flags: -fno-align-functions
// variants: -O1; -O2; -O1 -falign-loops=32; -O1 -fPIC; -Os; -O1 -g
// least: 4
#include "../exact/padding_first.c"

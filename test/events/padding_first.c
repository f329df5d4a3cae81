// The events of a program whose functions begin with padding.
// flags: -fno-align-functions
// variants: -O1; -O2; -O1 -falign-loops=32
#include "../exact/padding_first.c"

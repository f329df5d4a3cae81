// The moments of a program whose functions begin with padding.
// flags: -fno-align-functions
// watch: area
// variants: -O1; -O2; -O1 -falign-loops=32; -O2 -fno-pie -no-pie
#include "../exact/padding_first.c"

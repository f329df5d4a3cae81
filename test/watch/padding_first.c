// The writes of a program whose functions begin with padding.
// flags: -fno-align-functions
// watch: area = area:100
// variants: -O1; -O2; -O1 -falign-loops=32; -O2 -fno-pie -no-pie
#include "../exact/padding_first.c"

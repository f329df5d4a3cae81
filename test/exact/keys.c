// Static keys: where the program writes a jump over a no-operation, or a no-operation over a jump, each
// counts as what was there.  A trap behind which a handler goes on counts, but the oracle has none.
// variants: -O2; -O0; clang -O2 -fPIC
// args: no-traps
// left-alone: uses_jumps
// whole: the code changes itself
#include "../same/parts/keys.c"

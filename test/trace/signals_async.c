// Signals of another thread, which arrive at any instruction.
// flags: -pthread
// modes: trace; moment,trace
// variants: -O0; -O2; clang -O2
// counts
#define SIGNALS 100
#define LENGTH 16
#define ROUNDS 4000
#define PAUSE 0
#include "../exact/signals_async.c"

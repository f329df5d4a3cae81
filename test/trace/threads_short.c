// Many threads that live for a moment.
// variants: -O2
// flags: -pthread
// counts
#include "../exact/threads_short.c"

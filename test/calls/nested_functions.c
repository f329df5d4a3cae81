// Nested functions, called directly and through a pointer, which a goto leaves.
// variants: -O0; -O1; -O2
#include "../exact/nested_functions.c"

// Nested functions.
// variants: -O0; -O2
#include "../exact/nested_functions.c"

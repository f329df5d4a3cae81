// Nested functions.
// variants: gcc -O0; gcc -O2
#include "../exact/nested_functions.c"

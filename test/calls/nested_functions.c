// Nested functions, called directly and through a pointer, which a goto leaves.
// variants: gcc -O0; gcc -O1; gcc -O2
#include "../exact/nested_functions.c"

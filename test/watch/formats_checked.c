// printf and its like, checked by the C library: %n is in literals alone.
// watch: text = text:96
// watch: text[40..47] = text+40:8
// watch: number = number:4
// watch: counts = counts:24
// variants: -O2 -D_FORTIFY_SOURCE=2; clang -O1 -D_FORTIFY_SOURCE=2
// flags: -Wno-format -Wno-format-security -Wno-format-overflow -Wno-format-truncation
#define CHECKED 1
#include "formats.c"

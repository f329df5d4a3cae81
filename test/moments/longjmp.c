// longjmp over several frames; setjmp that returns again and again.
// watch: work
// visits: 15
// variants: -O0 -fno-pie -no-pie; -O2 -fno-pie -no-pie; -O2 -fPIE; clang -O2 -fPIC; clang -O2 -no-pie -fno-pie
#include "../exact/longjmp.c"

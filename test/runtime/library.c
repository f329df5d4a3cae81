/* library.c: an instrumented shared object. */
#include "count.h"

CELLS(library, 2);

__attribute__((constructor)) static void start(void) {
    COUNT(library, 0);
}

void library_work(unsigned long times);
void library_work(unsigned long times) {
    for (unsigned long i = 0; i < times; i++)
        COUNT(library, 1);
}

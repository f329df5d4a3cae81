// Part of own_names.c: functions that are named like functions of the C library, and do not return.
#include <setjmp.h>
#include <stdlib.h>

extern jmp_buf again;

void log(int i) {
    if (i & 1)
        longjmp(again, 1);
}

void trunc(const char *text) {
    exit(*text == 'x' ? 0 : 1);
}

/* plain.c: compiled without debug information. */
#include "lines.h"

int held = 3;

int plain(int value) {
    return value * 3 + doubled(value);
}

void stop(int code) {
    held = code;
}

/* What is a shared library where the kind of link says so. */
#include "parts.h"

static volatile int turns;

NOIPA int library(int n) {
    for (int i = n; i > 0; i /= 2)
        turns++;
    return turns;
}

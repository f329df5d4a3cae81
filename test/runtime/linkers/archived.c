/* What comes out of an archive. */
#include "parts.h"

NOIPA int archived(int n) {
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum ^= i;
    return sum;
}

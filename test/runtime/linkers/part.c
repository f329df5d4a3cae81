/* Three thousand calls. */
#include "parts.h"

NOIPA int part(int n) {
    return n % 3 ? n : -n;
}

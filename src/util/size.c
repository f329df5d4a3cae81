/* size.c: sizes as users write them; see size.h. */
#include "util/size.h"

#include <ctype.h>
#include <stdlib.h>

static const struct {
    char letter;
    unsigned bits;
} units[] = {{'K', 10}, {'M', 20}, {'G', 30}};

bool read_size(const char **text, uint64_t *bytes) {
    char *end;
    if (!isdigit((unsigned char)**text))
        return false;
    *bytes = strtoull(*text, &end, 10); /* the largest number if it does not fit */
    unsigned bits = 0;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (toupper((unsigned char)*end) == units[i].letter)
            bits = units[i].bits;
    end += bits != 0;
    *text = end;
    if (*bytes > (UINT64_C(1) << SIZE_MAX_BITS) >> bits)
        return false;
    *bytes <<= bits;
    return true;
}

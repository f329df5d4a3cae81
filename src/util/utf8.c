/* utf8.c: telling text from other bytes; see utf8.h. */
#include "util/utf8.h"

#include <stdint.h>

size_t utf8_length(const char *text) {
    /* First bytes FROM to TO, the second byte's range, and the length.  Further bytes are always
     * 0x80 to 0xbf. */
    static const struct {
        uint8_t from, to, second_from, second_to, length;
    } forms[] = {
        {0x01, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
        {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
        {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
    };
    const uint8_t *bytes = (const uint8_t *)text;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (bytes[0] < forms[i].from || bytes[0] > forms[i].to)
            continue;
        if (forms[i].length == 1)
            return 1;
        if (bytes[1] < forms[i].second_from || bytes[1] > forms[i].second_to)
            return 0;
        for (size_t k = 2; k < forms[i].length; k++)
            if (bytes[k] < 0x80 || bytes[k] > 0xbf) /* a NUL ends it here */
                return 0;
        return forms[i].length;
    }
    return 0;
}

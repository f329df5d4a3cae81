/* utf8.h: recognizes UTF-8, and characters that act on a terminal. The runtime includes this file,
 * too. */
#ifndef QUIPU_UTIL_UTF8_H
#define QUIPU_UTIL_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Returns the length of the well-formed UTF-8 sequence (Unicode 15, table 3-7) at the begin of the
 * NUL-terminated TEXT: 1 to 4, or 0 if there is none. The terminating NUL is not a sequence. */
static inline size_t utf8_length(const char *text) {
    /* Ranges of the first and the second byte, and the length. Further bytes are always 0x80 to
     * 0xbf. */
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
            if (bytes[k] < 0x80 || bytes[k] > 0xbf) /* also stops at a NUL */
                return 0;
        return forms[i].length;
    }
    return 0;
}

/* Returns the character at the begin of TEXT. LENGTH is the result of utf8_length. */
static inline uint32_t utf8_character(const char *text, size_t length) {
    static const uint8_t masks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t character = (uint8_t)text[0] & masks[length];
    for (size_t i = 1; i < length; i++)
        character = character << 6 | ((uint8_t)text[i] & 0x3f);
    return character;
}

/* Whether a terminal does more with CHARACTER than show it. These are control characters (C0, DEL,
 * C1), line ends, and characters that embed, override or isolate a direction: with them a text can
 * look like another one (CVE-2021-42574). */
static inline int acts_on_terminal(uint32_t character) {
    return character < 0x20 || (character >= 0x7f && character < 0xa0) ||
           (character >= 0x2028 && character <= 0x202e) ||
           (character >= 0x2066 && character <= 0x2069);
}

/* Returns the number of bytes of the first character of the NUL-terminated TEXT if it may be
 * written to a terminal unchanged, otherwise 0. */
static inline size_t safe_length(const char *text) {
    size_t length = utf8_length(text);
    return length && !acts_on_terminal(utf8_character(text, length)) ? length : 0;
}

#endif

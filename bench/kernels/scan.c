/* scan.c: searches a text byte by byte: lengths, a character, a word by Horspool's method. */
#include "kernel.h"

#include <stdio.h>
#include <string.h>

enum {
    SIZE = 1 << 16
};

static char text[SIZE + 1];

static size_t measure(const char *s) {
    const char *end = s;
    while (*end)
        end++;
    return (size_t)(end - s);
}

static unsigned count_lines(const char *s) {
    unsigned lines = 0;
    for (; *s; s++)
        if (*s == '\n')
            lines++;
    return lines;
}

/* Horspool 1980: the text's character under the pattern's last one tells how far to shift. */
static unsigned count_word(const char *s, size_t size, const char *word, size_t length) {
    size_t shift[256];
    for (int c = 0; c < 256; c++)
        shift[c] = length;
    for (size_t i = 0; i + 1 < length; i++)
        shift[(unsigned char)word[i]] = length - 1 - i;
    unsigned found = 0;
    for (size_t at = 0; at + length <= size; at += shift[(unsigned char)s[at + length - 1]]) {
        size_t i = length;
        while (i && s[at + i - 1] == word[i - 1])
            i--;
        found += i == 0;
    }
    return found;
}

int main(int argc, char **argv) {
    static const char letters[] = "etaoin shrdlu etaoin\n";
    uint64_t state = 3;
    for (size_t i = 0; i < SIZE; i++)
        text[i] = letters[next_random(&state) % (sizeof letters - 1)];
    uint64_t checksum = 0;
    for (unsigned round = kernel_rounds(argc, argv, 5000); round; round--) {
        text[next_random(&state) % SIZE] = 'x';
        checksum += measure(text) + count_lines(text) + 7 * count_word(text, SIZE, "tin", 3) +
                    count_word(text, SIZE, "stone", 5);
    }
    printf("%llu\n", (unsigned long long)checksum);
    return 0;
}

/* compress.c: a compressor of the LZ77 family with hash chains, and its decompressor.
 *
 * A token is a byte: 0 to 127, so many literals and one follow; else a match of length token - 124
 * at the distance in the next two bytes. */
#include "kernel.h"

#include <stdio.h>
#include <string.h>

enum {
    SIZE = 1 << 18,
    HASH_BITS = 14,
    CHAIN = 16,
    SHORTEST = 4,
    LONGEST = 131,
    WINDOW = 65535
};

static unsigned char text[SIZE], packed[2 * SIZE], unpacked[SIZE];
static uint32_t head[1 << HASH_BITS], previous[SIZE]; /* positions plus one; 0 ends a chain */

static uint32_t hash_at(const unsigned char *p) {
    uint32_t word;
    memcpy(&word, p, sizeof word);
    return word * 2654435761u >> (32 - HASH_BITS);
}

static void enter(uint32_t at) {
    if (at + SHORTEST > SIZE)
        return;
    uint32_t hash = hash_at(text + at);
    previous[at] = head[hash];
    head[hash] = at + 1;
}

static unsigned match_length(const unsigned char *a, const unsigned char *b, unsigned most) {
    unsigned length = 0;
    while (length < most && a[length] == b[length])
        length++;
    return length;
}

/* The longest earlier match of what is AT; its length, 0 for none. */
static unsigned find_match(uint32_t at, uint32_t *distance) {
    if (at + SHORTEST > SIZE)
        return 0;
    unsigned most = SIZE - at < LONGEST ? SIZE - at : LONGEST, best = SHORTEST - 1;
    uint32_t candidate = head[hash_at(text + at)];
    for (int tries = CHAIN; candidate && tries; tries--, candidate = previous[candidate - 1]) {
        uint32_t from = candidate - 1;
        if (at - from > WINDOW)
            break;
        if (best < most && text[from + best] != text[at + best])
            continue;
        unsigned length = match_length(text + from, text + at, most);
        if (length > best) {
            best = length;
            *distance = at - from;
        }
    }
    return best >= SHORTEST ? best : 0;
}

static unsigned char *put_literals(unsigned char *out, const unsigned char *from, uint32_t count) {
    while (count) {
        uint32_t part = count < 128 ? count : 128;
        *out++ = (unsigned char)(part - 1);
        memcpy(out, from, part);
        out += part;
        from += part;
        count -= part;
    }
    return out;
}

static size_t compress(void) {
    unsigned char *out = packed;
    uint32_t literals = 0, at = 0, distance = 0;
    memset(head, 0, sizeof head);
    while (at < SIZE) {
        unsigned length = find_match(at, &distance);
        if (!length) {
            enter(at++);
            literals++;
            continue;
        }
        out = put_literals(out, text + at - literals, literals);
        literals = 0;
        *out++ = (unsigned char)(length + 124);
        *out++ = (unsigned char)distance;
        *out++ = (unsigned char)(distance >> 8);
        while (length--)
            enter(at++);
    }
    return (size_t)(put_literals(out, text + at - literals, literals) - packed);
}

static size_t decompress(size_t size) {
    const unsigned char *in = packed, *end = packed + size;
    unsigned char *out = unpacked;
    while (in < end) {
        unsigned token = *in++;
        if (token < 128) {
            for (unsigned i = 0; i <= token; i++)
                *out++ = *in++;
        } else {
            unsigned distance = in[0] | (unsigned)in[1] << 8;
            in += 2;
            for (unsigned i = token - 124; i; i--, out++)
                *out = *(out - distance);
        }
    }
    return (size_t)(out - unpacked);
}

/* Words of a small random vocabulary, common ones more often. */
static void write_text(void) {
    uint64_t state = 6;
    for (size_t at = 0; at < SIZE;) {
        uint32_t r = next_random(&state);
        uint64_t word = 99 + (r % 2000) * (r >> 16 & 0xff) / 256;
        for (unsigned i = 3 + r % 7; i && at < SIZE; i--)
            text[at++] = (unsigned char)('a' + next_random(&word) % 26);
        if (at < SIZE)
            text[at++] = ' ';
    }
}

int main(int argc, char **argv) {
    uint32_t checksum = 0;
    write_text();
    for (unsigned round = kernel_rounds(argc, argv, 250); round; round--) {
        text[round * 997 % SIZE] = '!';
        size_t size = compress();
        if (decompress(size) != SIZE || memcmp(text, unpacked, SIZE) != 0) {
            fputs("compress: text is not what it was\n", stderr);
            return 1;
        }
        checksum = checksum * 31 + (uint32_t)size;
    }
    printf("%u\n", checksum);
    return 0;
}

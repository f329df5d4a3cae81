// Values that gcc keeps in %r11 across calls of functions that it has seen not to change it, in
// loops so short that counters want the register (-fipa-ra, on from -O2): called directly, by way
// of others, by a jump in place of a call; and where another unit's function is called there too.
// variants: -O1; -O2; -O3; gcc -O2 -fno-ipa-ra; -O2 -fno-plt; -O2 -mcmodel=large; -Os; clang -O2
// callgrind
#include <stdio.h>

static unsigned table[64];

/* Changes no register but a few, and has a short loop. */
__attribute__((noinline)) static unsigned search(unsigned key) {
    unsigned i = 0;
    while (i < 63 && table[i] != key)
        i++;
    return i;
}

__attribute__((noinline)) static unsigned search_behind(unsigned key) {
    if (key > 40)
        return 63;
    return search(key + 1);
}

__attribute__((noinline)) static unsigned search_twice(unsigned key) {
    return search_behind(key) + search(key);
}

/* May change all that callers do not save. */
__attribute__((noinline)) static unsigned search_aloud(unsigned key) {
    unsigned at = search(key);
    if (key == 5)
        puts("five");
    return at;
}

/* More values than there are other registers. */
#define MIX(function)                                                                              \
    __attribute__((noinline)) static unsigned mix_##function(const unsigned *v, unsigned turns) {  \
        unsigned a = v[0], b = v[1], c = v[2], d = v[3], e = v[4], f = v[5], g = v[6], h = v[7],   \
                 i = v[8], j = v[9], k = v[10], l = v[11];                                         \
        for (unsigned n = 0; n < turns; n++) {                                                     \
            unsigned x = function(n & 31);                                                         \
            a += x ^ l, b += a ^ c, c ^= b + d, d += c, e ^= d + x, f += e, g ^= f, h += g;        \
            i ^= h + a, j += i ^ b, k ^= j + x, l += k ^ e;                                        \
        }                                                                                          \
        return a ^ b ^ c ^ d ^ e ^ f ^ g ^ h ^ i ^ j ^ k ^ l;                                      \
    }

MIX(search)
MIX(search_behind)
MIX(search_twice)
MIX(search_aloud)

int main(int argc, char **argv) {
    unsigned v[12], (*volatile indirect)(unsigned) = search;
    (void)argv;
    for (unsigned i = 0; i < 64; i++)
        table[i] = i * 7 % 64;
    for (unsigned i = 0; i < 12; i++)
        v[i] = i * i + (unsigned)argc;
    printf("%u %u %u %u %u\n", mix_search(v, 40), mix_search_behind(v, 40),
           mix_search_twice(v, 40), mix_search_aloud(v, 40), indirect(9));
    return 0;
}

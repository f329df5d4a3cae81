// Loops that are told by where their addresses begin: up and down, on conditions, by indices of 32
// bits with a sign and without, by registers, through copies, and within loops.  What is watched
// lies behind them, in front of them, and between the places that they write.
// watch: area[4096..4099] = area+4096:4
// watch: area[4500] = area+4500:1
// watch: area[5000..5063] = area+5000:64
// variants: -O2; -O3; -O1; -O2 -fno-pie -no-pie; -O2 -fno-tree-vectorize -fno-ivopts; clang -O2; clang -O2 -fno-vectorize -fno-unroll-loops
#include <stdint.h>
#include <stdio.h>

#define KERNEL        __attribute__((noinline, noclone)) static void
#define OPAQUE(value) __asm__("" : "+r"(value))

enum {
    KINDS = 13
};

_Alignas(4096) unsigned char area[12288];
static uint64_t state = 88172645463325252;

static uint64_t random_number(uint64_t limit) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % limit;
}

// As hash chains are made: two indices that are cut off, one address that goes up.
KERNEL chains(uint16_t *chain, uint8_t *table, const uint8_t *from, uint32_t at, uint32_t end) {
    while (at < end) {
        uint32_t hash = (from[at & 63] * 2654435761u) >> 24;
        chain[at & 0xff] = (uint16_t)(at - table[hash] + 1);
        table[hash] = (uint8_t)(table[hash] + 1);
        at++;
    }
}

KERNEL on_condition(uint8_t *to, const uint8_t *from, uint64_t count) {
    for (uint64_t i = 0; i < count; i++)
        if (from[i] & 1)
            *to++ += 1;
}

KERNEL down_on_condition(uint8_t *to, const uint8_t *from, uint64_t count) {
    for (uint64_t i = 0; i < count; i++)
        if (from[i] & 2)
            *to-- += 1;
}

KERNEL by_signed_index(uint8_t *middle, const int8_t *places, uint64_t count) {
    for (uint64_t i = 0; i < count; i++) {
        int32_t place = places[i] * 3;
        middle[place] = (uint8_t)(middle[place] + 1);
    }
}

KERNEL both_ways(uint8_t *to, const uint8_t *from, uint64_t count) {
    for (uint64_t i = 0; i < count; i++) {
        *to = (uint8_t)(*to + 1);
        to += from[i] & 1 ? 3 : -2;
    }
}

KERNEL by_register(uint8_t *to, int64_t step, uint64_t count) {
    do {
        *to = (uint8_t)(*to + 1);
        to += step;
    } while (--count);
}

KERNEL rows(uint32_t *to, int64_t width, uint64_t height, uint64_t columns) {
    for (uint64_t y = 0; y < height; y++, to += width)
        for (uint64_t x = 0; x < columns; x++)
            to[x] = to[x] + 1;
}

KERNEL matrix(double *c, const double *a, const double *b, uint64_t n, uint64_t m) {
    for (uint64_t k = 0; k < m; k++)
        for (uint64_t i = 0; i < n; i++)
            c[i] += a[i] * b[k] + 1;
}

// The inner loop goes up, the outer one brings it back.
KERNEL back_and_forth(uint8_t *to, uint64_t turns, uint64_t count) {
    for (uint64_t t = 0; t < turns; t++) {
        for (uint64_t i = 0; i < count; i++)
            *to++ += 1;
        to -= count + 5;
    }
}

KERNEL two_places(uint8_t *to, uint8_t *other, const uint8_t *from, uint64_t count) {
    for (uint64_t i = 0; i < count; i++) {
        if (from[i] == 7)
            to = other;
        *to++ += 1;
    }
}

// The pointer comes out of memory, of which nothing is known.
KERNEL through_pointers(uint8_t **pointers, uint64_t count) {
    for (uint64_t i = 0; i < count; i++)
        *pointers[i] += 1;
}

KERNEL saved_index(uint8_t *to, const uint8_t *from, uint64_t count) {
    uint64_t last = 0;
    for (uint64_t i = 0; i < count; i++) {
        if (from[i] & 4)
            last = i;
        to[last] = (uint8_t)(to[last] + 1);
    }
}

KERNEL histogram(uint32_t *counts, const uint8_t *from, uint64_t count) {
    for (uint64_t i = 0; i < count; i++)
        counts[from[i]]++;
}

static unsigned char *near(void) {
    static const int places[] = {4096, 4500, 5000, 5063, 4300, 6000};
    return area + places[random_number(6)];
}

static void run(unsigned kind) {
    static uint8_t from[64];
    static int8_t places[64];
    uint8_t *place = near() - random_number(120) + 20, *pointers[16];
    uint32_t *words = (uint32_t *)((uintptr_t)place & -8ul);
    uint64_t count = random_number(40) + 1;
    int64_t step = (int64_t)random_number(60) - 30;
    for (unsigned i = 0; i < 64; i++) {
        from[i] = (uint8_t)random_number(32);
        places[i] = (int8_t)random_number(256);
    }
    for (unsigned i = 0; i < 16; i++)
        pointers[i] = area + 4000 + random_number(1100);
    OPAQUE(count);
    OPAQUE(step);
    switch (kind) {
    case 0:
        chains((uint16_t *)words - 60, (uint8_t *)words + 700, from, (uint32_t)count,
               (uint32_t)count * 2 + 3);
        break;
    case 1:
        on_condition(place, from, count);
        break;
    case 2:
        down_on_condition(place, from, count);
        break;
    case 3:
        by_signed_index(place, places, count);
        break;
    case 4:
        both_ways(place, from, count);
        break;
    case 5:
        by_register(place, step, count);
        break;
    case 6:
        rows(words, step, count / 8 + 1, count / 4);
        break;
    case 7:
        matrix((double *)words, (double *)area, (double *)area + 60, count / 5 + 1, count / 8 + 1);
        break;
    case 8:
        back_and_forth(place, count / 8 + 1, count / 3 + 1);
        break;
    case 9:
        two_places(place, near(), from, count);
        break;
    case 10:
        through_pointers(pointers, count % 16 + 1);
        break;
    case 11:
        saved_index(place, from, count);
        break;
    default:
        histogram(words - 16, from, count);
        break;
    }
}

int main(void) {
    uint64_t sum = 0;
    for (unsigned i = 0; i < 16 * KINDS; i++)
        run(i % KINDS);
    for (unsigned i = 0; i < sizeof area; i++)
        sum = sum * 31 + area[i];
    printf("%llx\n", (unsigned long long)sum);
    return 0;
}

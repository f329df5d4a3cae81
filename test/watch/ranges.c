// Loops whose stores are told in front of them: up and down, by steps of all kinds, with counters of
// 32 and 64 bits that are hit or passed, that wrap, or end before; ranges that end in front of a
// region, in it and behind it.
// watch: area[1000..1007] = area+1000:8
// watch: area[2049..2051] = area+2049:3
// watch: area[4000] = area+4000:1
// watch: area[4096..4159] = area+4096:64
// watch: area[8191] = area+8191:1
// watch: total = total:8
// variants: -O2; -O3; -O0; -O2 -fno-pie -no-pie; -O2 -fno-tree-vectorize -fno-ivopts; clang -O2; clang -O2 -fno-vectorize -fno-unroll-loops
#include <stdint.h>
#include <stdio.h>

#define KERNEL        __attribute__((noinline, noclone)) static void
#define OPAQUE(value) __asm__("" : "+r"(value))

enum {
    KINDS = 19
};

struct cell {
    uint32_t key, value;
    uint64_t next;
};

_Alignas(4096) unsigned char area[8192 + 4096];
uint64_t total;
static uint64_t state = 88172645463325252;

static uint64_t random_number(uint64_t limit) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % limit;
}

KERNEL bytes_up(unsigned char *to, long count) {
    for (long i = 0; i < count; i++)
        to[i] = (unsigned char)(to[i] * 3 + 1);
}

KERNEL words_up(uint64_t *to, uint64_t *end) {
    for (; to != end; to++)
        *to = *to * 5 + 1;
}

KERNEL words_down(uint64_t *to, long count) {
    while (count-- > 0)
        to[count] = to[count] + (uint64_t)count + 1;
}

KERNEL shorts_down(uint16_t *end, unsigned count) {
    do {
        *--end = (uint16_t)(*end + 7);
    } while (--count);
}

KERNEL by_step(unsigned char *to, int from, int end, int step) {
    for (int i = from; i < end; i += step)
        to[i] = (unsigned char)(to[i] + 1);
}

KERNEL by_unsigned_step(unsigned char *to, unsigned from, unsigned last, unsigned step) {
    for (unsigned i = from; i <= last; i += step)
        to[i] = (unsigned char)(to[i] + 1);
}

// The counter would wrap around, if the loop did not end before.
KERNEL to_the_end(unsigned char *to, unsigned from, unsigned last, int turns) {
    for (unsigned i = from; i <= last; i++) {
        to[i] = (unsigned char)(to[i] + 1);
        if (--turns == 0)
            break;
    }
}

KERNEL by_three(uint32_t *to, int count) {
    for (int i = 0; i <= count; i += 3)
        to[i] = to[i] + (uint32_t)i + 1;
}

KERNEL by_long_step(unsigned char *to, unsigned long count) {
    for (unsigned long i = 0; i < count; i++)
        to[i * 200] = (unsigned char)(to[i * 200] + 1);
}

KERNEL cells(struct cell *to, int count) {
    for (struct cell *c = to; c < to + count; c++) {
        c->key = c->key + 1;
        c->next = c->next ^ 0x5a5a;
        if (c->key & 1)
            c->value = c->value + 3;
    }
}

struct odd {
    uint32_t key[5];
};

KERNEL by_twenty(struct odd *to, struct odd *end) {
    for (; to != end; to++)
        to->key[1] = to->key[1] + 1;
}

KERNEL by_twelve_bytes(unsigned char *to, unsigned char *end, uint64_t *from) {
    for (; to != end; to += 12)
        *to = (unsigned char)(*to + *from++ + 1);
}

KERNEL two_ways(uint32_t *to, uint32_t *back, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        to[i] = to[i] + 1;
        *back-- ^= i + 1;
    }
}

KERNEL at_one_place(uint64_t *to, const unsigned char *from, long count) {
    for (long i = 0; i < count; i++)
        *to = *to * 31 + from[i] + 1;
}

KERNEL to_variable(const unsigned char *from, long count) {
    for (long i = 0; i < count; i++) {
        total = total + from[i] + 1;
        area[6000] = (unsigned char)(area[6000] + 1);
    }
}

KERNEL until_found(unsigned char *to, long count, unsigned char end) {
    for (long i = 0; i < count; i++) {
        to[i] = (unsigned char)(to[i] + 1);
        if (to[i] == end)
            break;
    }
}

// The counter wraps around, and the address goes back by 2^34 bytes.
KERNEL wrapping(uint32_t *middle, uint32_t from, uint32_t end) {
    uint32_t i = from;
    do {
        middle[(int32_t)i] = middle[(int32_t)i] + 1;
        i++;
    } while (i != end);
}

KERNEL nested(uint32_t *to, int rows, int columns, int width) {
    for (int y = 0; y < rows; y++)
        for (int x = 0; x < columns; x++)
            to[y * width + x] = to[y * width + x] + (uint32_t)(x ^ y) + 1;
}

// The limit is beyond what an int may be: all of these pass none.
KERNEL up_to_the_last(unsigned char *to, uint64_t from, uint64_t last) {
    for (uint64_t i = from; i <= last && i >= from; i++)
        to[i - from] = (unsigned char)(to[i - from] + 1);
}

static unsigned char *near(void) {
    static const int places[] = {1000, 2049, 4000, 4096, 8191, 3000};
    return area + places[random_number(6)];
}

static void run(unsigned kind) {
    unsigned char *place = near();
    long count = (long)random_number(40), before = (long)random_number(90);
    uint64_t *words = (uint64_t *)((uintptr_t)place & -8ul) - before / 8;
    uint32_t *halves = (uint32_t *)((uintptr_t)place & -4ul) - before / 4;
    int step = 1 + (int)random_number(9);
    long times = random_number(8) ? 1 : 12; // more than one look can see
    OPAQUE(count);
    switch (kind) {
    case 0:
        bytes_up(place - before, count * 3 * times);
        break;
    case 1:
        words_up(words, words + count / 2 * times);
        break;
    case 2:
        words_down(words, count / 2);
        break;
    case 3:
        shorts_down((uint16_t *)((uintptr_t)place & -2ul) + before / 3,
                    (unsigned)(count * times) + 1);
        break;
    case 4:
        by_step(place, -(int)before, (int)count, step);
        break;
    case 5:
        by_three(halves, (int)count);
        break;
    case 6:
        by_long_step(area + place[0] % 200 + 600, (unsigned long)count / 2);
        break;
    case 7:
        cells((struct cell *)((uintptr_t)words & -16ul), (int)count / 2);
        break;
    case 8:
        two_ways(halves, halves + before / 2, (unsigned)count);
        break;
    case 9:
        at_one_place(words + before / 8, area, count);
        break;
    case 10:
        to_variable(area, count / 4);
        break;
    case 11:
        until_found(place - before, count * 3, (unsigned char)step);
        break;
    case 12:
        wrapping(halves, -(uint32_t)(before / 4), (uint32_t)count + 1);
        break;
    case 13:
        nested(halves, 4, (int)count / 4, 16);
        break;
    case 14:
        by_unsigned_step(place - before, (unsigned)before / 2, (unsigned)count * 3, (unsigned)step);
        break;
    case 15:
        to_the_end(place - before - 0xffffff00, 0xffffff00, UINT32_MAX, (int)count + 1);
        break;
    case 16:
        by_twenty((struct odd *)halves, (struct odd *)halves + count);
        break;
    case 17:
        by_twelve_bytes(place - before, place - before + count * 12, (uint64_t *)area);
        break;
    default:
        up_to_the_last(place - before, UINT64_MAX - (uint64_t)count, UINT64_MAX);
        break;
    }
}

// A region at the very end of ranges about as long as one look can see.
static void run_to_the_edge(void) {
    static const long lengths[] = {900, 958, 962, 1023, 1030, 1500};
    for (unsigned i = 0; i < sizeof lengths / sizeof *lengths; i++)
        bytes_up(area + 8191 - lengths[i], lengths[i] + 1);
}

int main(void) {
    for (unsigned i = 0; i < 14 * KINDS; i++)
        run(i % KINDS);
    run_to_the_edge();
    uint64_t sum = total;
    for (unsigned i = 0; i < sizeof area; i++)
        sum = sum * 31 + area[i];
    printf("%llx\n", (unsigned long long)sum);
    return 0;
}

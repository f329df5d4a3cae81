// String instructions: once, repeated, not at all, upwards and downwards, over a region's edges and
// over their own source.
// unfiltered
// watch: place = place:200
// watch: place[50] = place+50:1
// watch: place[61..70] = place+61:10
// watch: copies = copies:160
// variants: -O2; -O0; -Os; -O2 -fno-pie -no-pie; clang -O2; -O1 -minline-all-stringops; gcc -O2 -mstringop-strategy=rep_byte
#include <stdint.h>
#include <stdio.h>
#include <string.h>

_Alignas(64) unsigned char place[200];
struct pack {
    char text[37];
    int number;
    long rest[4];
} copies[2];

#define STRING(instruction, to, from, count, value)                                                \
    do {                                                                                           \
        void *di = (to);                                                                           \
        const void *si = (from);                                                                   \
        uint64_t cx = (count);                                                                     \
        __asm__ volatile(instruction                                                               \
                         : "+D"(di), "+S"(si), "+c"(cx)                                            \
                         : "a"((uint64_t)(value))                                                  \
                         : "memory", "cc");                                                        \
    } while (0)

__attribute__((noinline)) static void upwards(unsigned char *p, const char *s) {
    STRING("stosb", p, s, 9, 1);
    STRING("stosw", p + 3, s, 9, 0x0203);
    STRING("stosl", p + 60, s, 9, 0x04050607);
    STRING("stosq", p + 48, s, 9, 0x08090a0b0c0d0e0f);
    STRING("movsb", p + 10, s, 9, 0);
    STRING("movsw", p + 11, s, 9, 0);
    STRING("movsl", p + 49, s, 9, 0);
    STRING("movsq", p + 64, s, 9, 0);
    STRING("rep stosb", p + 20, s, 45, 0x10);
    STRING("rep stosw", p + 70, s, 7, 0x1112);
    STRING("rep stosl", p + 50, s, 1, 0x13141516);
    STRING("rep stosq", p + 100, s, 5, 0x1718191a1b1c1d1e);
    STRING("rep stosb", p, s, 0, 0xff);
    STRING("rep movsb", p + 30, s, 40, 0);
    STRING("rep movsw", p + 90, s, 6, 0);
    STRING("rep movsl", p + 60, s + 3, 4, 0);
    STRING("rep movsq", p + 150, s, 3, 0);
    STRING("repne movsb", p + 180, s, 3, 0);
    STRING("rep movsb", p + 41, p + 40, 30, 0); // spreads one byte
    STRING("rep movsq", p, p + 8, 10, 0);
}

__attribute__((noinline)) static void downwards(unsigned char *p, const char *s) {
    STRING("std\n\tstosb\n\tstosb\n\tcld", p + 63, s, 9, 0x21);
    STRING("std\n\tmovsl\n\tmovsl\n\tcld", p + 60, s + 8, 9, 0);
    STRING("std\n\trep stosb\n\tcld", p + 80, s, 40, 0x22);
    STRING("std\n\trep stosq\n\tcld", p + 120, s, 3, 0x2324252627282930);
    STRING("std\n\trep movsb\n\tcld", p + 71, s + 25, 25, 0);
    STRING("std\n\trep movsl\n\tcld", p + 196, s + 12, 4, 0);
    STRING("std\n\trep movsq\n\tcld", p + 140, p + 130, 4, 0);
    STRING("std\n\trep stosw\n\tcld", p + 140, s, 0, 0x31);
}

// Fills with an address of 32 bits and a count of 32 bits; flags live on.
__attribute__((noinline)) static int odd(unsigned char *p) {
    int result = 0;
    void *di = p;
    uint64_t cx = 0xdead00000000 + 5;
    __asm__ volatile("cmpl %%eax, %%eax\n\t"
                     "movl %%ecx, %%ecx\n\t"
                     "rep stosb\n\t"
                     "jne 1f\n\t"
                     "incl %0\n"
                     "1:"
                     : "+r"(result), "+D"(di), "+c"(cx)
                     : "a"(0x41)
                     : "memory", "cc");
#ifndef __PIC__
    di = p + 58;
    cx = 0xdead00000000 + 5;
    __asm__ volatile("addr32 rep stosb" : "+D"(di), "+c"(cx) : "a"(0x42) : "memory");
#endif
    return result;
}

__attribute__((noinline)) static void compiled(struct pack *to, const struct pack *from, int n) {
    *to = *from;
    memset(to[1].text, n, sizeof to->text);
    memcpy(to[1].text + 1, from->text, 30);
    memmove(to->text, to->text + 1, 20);
    to[1].rest[2] = n;
    strcpy(to->text, "copied");
}

int main(void) {
    static const struct pack from = {"a packet of characters and numbers", 77, {1, 2, 3, 4}};
    upwards(place, "the quick brown fox jumps over the lazy dog, twice");
    downwards(place, "pack my box with five dozen liquor jugs");
    int seen = odd(place + 55);
    compiled(copies, &from, 5);
    compiled(copies, &from, 6);
    printf("%d %d %s\n", seen, place[50], copies[0].text);
    return 0;
}

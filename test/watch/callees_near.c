// Functions that are not instrumented, called directly and through pointers, that write up to what
// is watched, the first byte of it, the last, what is behind it, and far away: in front of the call
// the lowest and highest address that are watched are asked for.
// watch: cells.middle = cells+4096:8
// libraries: -lm
// variants: -O2; -O0; -O2 -fno-pie -no-pie; clang -O2; -O2 -static; -O2 -D_FORTIFY_SOURCE=2; -O2 -fno-plt; gcc -O2 -ffixed-r11
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

static struct {
    char below[4096];
    char middle[8];
    char above[4096];
} cells __attribute__((aligned(4096)));
static char *middle = cells.middle;
static int pipes[2];
static unsigned char fill;

static int by_value(const void *left, const void *right) {
    return *(const signed char *)right - *(const signed char *)left;
}

// What the table of functions has for each kind of range.
static void copies(char *to, size_t length) {
    static char from[64];
    memset(from, ++fill, sizeof from);
    memcpy(to, from, length);
}

static void wide(char *to, size_t length) {
    wmemset((wchar_t *)to, ++fill, length / sizeof(wchar_t));
}

static void strings(char *to, size_t length) {
    char from[64];
    memset(from, 'a' + ++fill % 20, sizeof from);
    from[length ? length - 1 : 0] = 0;
    strcpy(to, from);
}

static void appends(char *to, size_t length) {
    char from[64];
    memset(from, 'A' + ++fill % 20, sizeof from);
    from[length / 2] = 0;
    *to = 0;
    strcat(to, from);
    strcat(to, from);
}

static void sorts(char *to, size_t length) {
    for (size_t i = 0; i < length; i++)
        to[i] = (char)(i * 7 % 11 + fill % 3);
    fill++;
    qsort(to, length, 1, by_value);
}

static void reads(char *to, size_t length) {
    char from[64];
    memset(from, ++fill, sizeof from);
    if (write(pipes[1], from, length) != (ssize_t)length ||
        read(pipes[0], to, length) != (ssize_t)length)
        exit(1);
}

static void gets(char *to, size_t length) {
    char from[64];
    memset(from, 'a' + ++fill % 20, sizeof from);
    FILE *file = fmemopen(from, sizeof from, "r");
    if (!fgets(to, (int)length, file) || fread(to, 1, length, file) != length)
        exit(2);
    fclose(file);
}

static void numbers(char *to, size_t length) {
    (void)length;
    frexp(++fill * 5.0 + fill, (int *)to);
    frexp(ldexp(1, fill), (int *)to);
}

static void (*const volatile kinds[])(char *, size_t) = {copies, wide,  strings, appends,
                                                         sorts,  reads, gets,    numbers};

// The same where it is known only at run time that they are the C library's.
static void *(*volatile copy)(void *, const void *, size_t) = memcpy;
static void *(*volatile set)(void *, int, size_t) = memset;
static void (*volatile sort)(void *, size_t, size_t, int (*)(const void *, const void *)) = qsort;

static void through_pointers(char *to, size_t length) {
    char from[64];
    memset(from, ++fill, sizeof from);
    copy(to, from, length);
    set(to, ++fill, length);
    from[0] = 127;
    copy(to, from, length);
    sort(to, length, 1, by_value);
}

int main(void) {
    static const int places[] = {-4096, -64, -12, -8, -4, 0, 4, 8, 64, 4000};
    if (pipe(pipes))
        return 1;
    for (unsigned kind = 0; kind < sizeof kinds / sizeof *kinds; kind++)
        for (unsigned i = 0; i < sizeof places / sizeof *places; i++)
            kinds[kind](middle + places[i], 12);
    for (int place = -40; place < 10; place++) {
        copies(middle + place, 32);
        through_pointers(middle + place, 32);
    }
    printf("%.8s\n", middle);
    return 0;
}

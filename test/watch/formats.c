// printf and its like: by literal formats they write what is known, by %n, and by formats that are
// not known, anything.
// watch: text = text:96
// watch: text[40..47] = text+40:8
// watch: number = number:4
// watch: counts = counts:24
// variants: -O2; -O0; -O1 -fno-pie -no-pie; -O2 -fno-plt; clang -O2; clang -O0; -O2 -static; -O2
// -D_FORTIFY_SOURCE=2 -DCHECKED=1 flags: -Wno-format -Wno-format-security -Wno-format-overflow
// -Wno-format-truncation -fno-builtin-sprintf -fno-builtin-snprintf -fno-builtin-printf
#define _GNU_SOURCE
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef CHECKED
#define CHECKED 0
#endif

char text[96];
int number;
struct {
    signed char small;
    short half;
    int whole;
    long wide;
    intmax_t most;
} counts;

static char unwatched[16];
static volatile int one = 1;
static int width = 6;
static char in_memory[] = "%d%n";
static const char constant[] = "constant %d\n";
const char *volatile variable = "from a variable %d";
static FILE *sink;

// Each is one call with the format right in front of it.
__attribute__((noinline)) static void known(int n) {
    sprintf(text, "%d of %s%%n", n, "sprintf");
    snprintf(text + 20, 12, "%*d|%-*d|%.*f", width, n, 4, n, 2, n / 7.0);
    snprintf(text + 38, 4, "longer than it may be %s", "here");
    snprintf(text + 44, 0, "nothing at all %d", n);
    sprintf(text + 40, "%c%s", 0, "behind a NUL");
    sprintf(text + 60, "%s", "");
    snprintf(text + 60, SIZE_MAX / 4, "%1$s \"%1$s\" \\ \001\t%2$d", "twice", n);
    sprintf(text + 40, constant, n);
    number = snprintf(NULL, 0, "%Lf %lld %hhd %zu %m", 1.5L, 2LL, 3, sizeof text);
}

// A long literal, which compilers write in parts; one with a NUL in front of what looks like %n.
__attribute__((noinline)) static void parts(int n) {
    number =
        sprintf(text,
                "%.9s|0123456789012345678901234567890123456789012345678901234567890123456789"
                "%.0s%.0s%.0s%.0s%.0s%.0s%.0s%.0s%.0s%.0s%.0s%.0s%.0s%.0s%.0s%.0s%.0s%.0s"
                "%.0s%.0s%.0s%.0s%.0s%.0s%.0s%.0s%.0s%.0s%.0s%.0s%.0s%.0s%.0s%.0s%.0s%.0s",
                "parts", "", "", "", "", "", "", "", "", "", "", "", "", "", "", "", "", "", "", "",
                "", "", "", "", "", "", "", "", "", "", "", "", "", "", "", "", "", "");
    number = sprintf(text, "cut %d\0%n", n, &number);
}

// Where %n is looked at, in memory that can be written it ends the program.
__attribute__((noinline)) static int by_memory(int n) {
    return CHECKED ? n : sprintf(text + 50, in_memory, n, &number) + 1;
}

__attribute__((noinline)) static void counted(int n) {
    sprintf(text + 50, "%d%n", n, &number);
    sprintf(text + 50, "%%%n%hhn %hn %ln%jn", &counts.whole, &counts.small, &counts.half,
            &counts.wide, &counts.most);
    snprintf(text + 50, 3, "cut off%n", &number);
    snprintf(text + 50, 20, "%1$s%2$n", "positional", &number);
    fprintf(sink, "%5d%n\n", n, &number);
    fprintf(sink, "%d %s %n\n", n, "more", &counts.whole);
    printf("%i%n\n", n, &number);
}

__attribute__((noinline)) static void unknown(const char *format, int n) {
    sprintf(text + 30, variable, n, &number);
    snprintf(text + 30, 30, format, n, &number);
    printf(format, n, &number);
    sprintf(text + 30, n > 12 ? "%d%n" : "%d%.0s", n, &number);
    fprintf(sink, n > 12 ? "%d %n" : "%d %.0s", n, &number);
    fprintf(sink, n < 12 ? "%d   %n" : "%d  %.0s", n, &number);
    printf("\n");
}

__attribute__((noinline)) static void streams(int n) {
    FILE *file = fmemopen(text, sizeof text, "w");
    fprintf(file, "into memory %d\n", n);
    fflush(file);
    fprintf(file, "at its end %d %x %o\n", n, n, n);
    fclose(file);
    dprintf(1, "directly %d\n", n);
    fprintf(stdout, "%s %d\n", "to a stream", n);
}

// The format's address may be put into a register in front of the loop.
__attribute__((noinline)) static int repeated(int n) {
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += snprintf(text + i * 3, 20, "%d%s%n", i, "again", &number);
    for (int i = 0; i < n; i++)
        sum += sprintf(text + i * 5, "%d%s", i + n, "again");
    for (int i = 0; i < n; i++)
        sum += fprintf(sink, "%*d%n", i * i + 1, i, &number);
    return sum;
}

// Jumps that end a function; one has arguments on the stack.
__attribute__((noinline)) static int ends(char *to, int n) {
    return snprintf(to, 10, "%d %d %d", n, n + 1, n + 2);
}

__attribute__((noinline)) int ends_and_goes_on(char *to, int a, int b, int c, int d, int e, int f,
                                               int g) {
    return sprintf(to, "%d%d%d%d%d%d", a + b, c, d, e, f, g);
}

int main(void) {
    sink = fopen("/dev/null", "w");
    known(12);
    parts(7);
    counted(12345);
    number = by_memory(13);
    unknown("%d%n", 99);
    unknown("%d  %n", 5);
    streams(25);
    number = repeated(5);
    ends(text, one + 2);
    ends_and_goes_on(unwatched, one, one + 1, one + 2, one + 3, one + 4, one + 5, one + 6);
    fclose(sink);
    printf("%d %d %d %d %ld %ld %s %s\n", number, counts.small, counts.half, counts.whole,
           counts.wide, (long)counts.most, text, unwatched);
    return 0;
}

// printf and its like: by formats without %n, be they literals or found so at the call, they write
// what is known, by others anything.
// watch: text = text:96
// watch: text[40..47] = text+40:8
// watch: number = number:4
// watch: counts = counts:24
// variants: -O2; -O0; -O1 -fno-pie -no-pie; -O2 -fno-plt; clang -O2; clang -O0; -O2 -static
// flags: -Wno-format -Wno-format-security -Wno-format-overflow -Wno-format-truncation
// flags: -fno-builtin-sprintf -fno-builtin-snprintf -fno-builtin-printf
#define _GNU_SOURCE
#include <limits.h>
#include <stdarg.h>
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
    snprintf(text + 60, CHECKED ? 36 : SIZE_MAX / 4, "%1$s \"%1$s\" \\ \001\t%2$d", "twice", n);
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

// Formats that are made, or given to the v-functions, and looked at when the call is come to.
__attribute__((noinline, format(printf, 3, 4))) static int wrap(char *to, size_t size,
                                                                const char *format, ...) {
    va_list list;
    va_start(list, format);
    int length = size ? vsnprintf(to, size, format, list) : vsprintf(to, format, list);
    va_end(list);
    return length;
}

__attribute__((noinline)) static int ends_in_list(char *to, const char *format, va_list list) {
    return vsnprintf(to, 9, format, list);
}

__attribute__((noinline)) static int wrap_end(char *to, const char *format, ...) {
    va_list list;
    va_start(list, format);
    int length = ends_in_list(to, format, list);
    va_end(list);
    return length;
}

__attribute__((noinline)) static void looked_at(int n) {
    char made[24];
    for (int i = 0; i < 3; i++) {
        made[0] = '%', made[1] = (char)('3' + i), made[2] = "dxn"[i], made[3] = 0;
        if (i == 2) /* %n, behind what is long */
            strcpy(made, CHECKED ? "%dlong%%n -+ 12 n" : "%dlong%%n -+ 12 n%5.2n");
        snprintf(text + 70, 24, made, n + i, &number);
        sprintf(text + 8, made, n + i, &number);
    }
    wrap(text + 3, 20, variable, n);
    wrap(text + 3, 0, "%d and n", n);
    wrap(text + 46, 0, "%.*s", 3, "four");
    wrap(unwatched, 9, variable, n);
    wrap(text, 9, CHECKED ? "%d" : "%1$d%2$n", n, &number);
    wrap_end(text + 5, "%d %s", n, "ends");
    wrap_end(text + 5, CHECKED ? "%d" : "%d%hhn", n, &counts.small);
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
    looked_at(31);
    looked_at(-4);
    streams(25);
    number = repeated(5);
    ends(text, one + 2);
    ends_and_goes_on(unwatched, one, one + 1, one + 2, one + 3, one + 4, one + 5, one + 6);
    fclose(sink);
    printf("%d %d %d %d %ld %ld %s %s\n", number, counts.small, counts.half, counts.whole,
           counts.wide, (long)counts.most, text, unwatched);
    return 0;
}

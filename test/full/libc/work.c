/* work.c: calls much of the C library, in one thread, with the same result in each run. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

static jmp_buf place;

static int compare(const void *left, const void *right) {
    return *(const int *)left - *(const int *)right;
}

static void jump(int depth) {
    char room[64];
    snprintf(room, sizeof room, "%d", depth);
    if (depth == 3)
        longjmp(place, atoi(room));
    jump(depth + 1);
}

static void sort(void) {
    int numbers[40], wanted = 17;
    for (int i = 0; i < 40; i++)
        numbers[i] = i * 23 % 40;
    qsort(numbers, 40, sizeof *numbers, compare);
    int *found = bsearch(&wanted, numbers, 40, sizeof *numbers, compare);
    printf("sorted: %d %d\n", numbers[1], found ? *found : -1);
}

static void print_text(void) {
    char *copy = strdup("the quick brown fox"), *rest = copy;
    for (char *word; (word = strsep(&rest, " "));)
        printf("%-8s|%zu|%c\n", word, strlen(word), toupper(*word));
    free(copy);
    char *blocks[20];
    for (int i = 0; i < 20; i++)
        memset(blocks[i] = malloc((size_t)i * 1000 + 1), i, (size_t)i * 1000 + 1);
    for (int i = 0; i < 20; i++)
        blocks[i] = realloc(blocks[i], (size_t)i * 500 + 600);
    memmove(blocks[19] + 3, blocks[19], 400);
    printf("memory: %d\n", blocks[19][402]);
    for (int i = 0; i < 20; i++)
        free(blocks[i]);
}

static void print_numbers(void) {
    wchar_t wide[8];
    struct tm date = {0};
    time_t moment = 86400 * 365;
    char text[32];
    printf("%g %a %.17g %Lf\n", sqrt(2), 0.1, exp(1.5), sinl(1));
    printf("%ld %lu %d\n", strtol("-0x7f", NULL, 16), strtoul("777", NULL, 8), errno);
    mbstowcs(wide, "abc", 8);
    printf("%ls %g\n", wide, strtod("1e-3", NULL));
    strftime(text, sizeof text, "%F", gmtime_r(&moment, &date));
    puts(text);
}

static void use_file(void) {
    char line[80];
    int number = 0;
    FILE *file = tmpfile();
    for (int i = 0; i < 100; i++)
        fprintf(file, "%d line %d\n", i * i, i);
    rewind(file);
    for (int i = 0; fgets(line, sizeof line, file); i++)
        sscanf(line, "%d", &number);
    printf("file: %d\n", number);
    fclose(file);
}

int main(void) {
    sort();
    print_text();
    print_numbers();
    use_file();
    int jumped = setjmp(place);
    if (!jumped)
        jump(0);
    printf("jumped %d\n", jumped);
    fflush(stdout);
    return 0;
}

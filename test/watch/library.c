// What the C library keeps for itself may be the program's variables: a stream's buffer, a memory
// stream's length; and a variable's page may be hidden while it is watched.
// watch: given[0..63] = given:64
// watch: small = small:8
// watch: length = length:8
// watch: page.first = page:8
// watch: line = line:32
// watch: words[1] = words+4:4
// variants: -O2; -O0; -O2 -fno-plt; clang -O2; -O2 -static; -O2 -D_FORTIFY_SOURCE=2
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static char given[512], line[32];
long small;
static int words[4];
static size_t length;
static char *text;
static union {
    long first;
    char bytes[4096];
} page __attribute__((aligned(4096)));
static jmp_buf back;

__attribute__((noinline)) static void streams(void) {
    FILE *file = tmpfile();
    if (!file || setvbuf(file, given, _IOFBF, sizeof given))
        exit(1);
    fputs("first line\n", file);
    for (int c = 'a'; c < 'k'; c++)
        fputc(c, file);
    putc('\n', file);
    fwrite("third line\nfour", 1, 15, file);
    rewind(file);
    while (fgets(line, sizeof line, file))
        given[63] += (char)getc(file);
    rewind(file);
    if (fread(words, 4, 3, file) != 3)
        exit(2);
    ungetc('!', file);
    fclose(file);
}

__attribute__((noinline)) static void memory(void) {
    FILE *file = open_memstream(&text, &length);
    if (!file)
        exit(3);
    fputs("a stream in memory", file);
    fflush(file);
    puts(text);
    fputc('.', file);
    fclose(file);
    free(text);
    char *block = malloc(100);
    small = block != NULL;
    block = realloc(block, 4000);
    free(block);
    small++;
}

// What is hidden cannot be compared, and nobody may try.
__attribute__((noinline)) static void hide(void) {
    page.first = 1;
    snprintf(line, sizeof line, "%ld", page.first);
    if (mprotect(&page, sizeof page, PROT_NONE))
        exit(4);
    snprintf(line, sizeof line, "%d", 4711);
    if (mprotect(&page, sizeof page, PROT_READ | PROT_WRITE))
        exit(5);
    page.first++;
    if (snprintf(page.bytes, 5, "%d", 99) != 2)
        exit(6);
    page.first++;
}

int main(void) {
    streams();
    memory();
    if (setjmp(back) == 0) {
        hide();
        longjmp(back, 1);
    }
    sscanf("17 18", "%ld %d", &small, &words[1]);
    printf("%ld %d %s\n", small, words[1], line);
    return 0;
}

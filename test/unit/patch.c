// The patcher of the runtime: a site leads to its code from every place of a cache line where the
// shim puts one, the bytes around it stay, a jump stays unless it is replaced, and the program's
// own text can be written only while it is open.
// runtime: patch/patch.o
#include "runtime/patch/patch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    LINE = 64,
    SITE = 5,
    FIRST = 100, /* where what sites lead to stands: mov $1, %eax; ret */
    SECOND = 120
};

static const unsigned char no_operation[SITE] = {0x0f, 0x1f, 0x44, 0x00, 0x00};
static int faults;

static void expect(int condition, const char *what, unsigned at) {
    if (!condition)
        printf("%s, site at offset %u\n", what, at), faults++;
}

/* mov $RESULT, %eax; ret */
static void write_function(unsigned char *text, unsigned char result) {
    const unsigned char code[] = {0xb8, result, 0, 0, 0, 0xc3};
    memcpy(text, code, sizeof code);
}

static int call(const unsigned char *text) {
    int (*function)(void);
    memcpy(&function, &text, sizeof function);
    return function();
}

static void try_site(unsigned char *page, unsigned at) {
    unsigned char around[LINE + SITE];
    memset(page, 0xcc, 96);
    memcpy(page + at, no_operation, SITE);
    write_function(page + at + SITE, 7); /* what follows the site */
    memcpy(around, page, sizeof around);
    expect(call(page + at) == 7, "a site that is not patched is no no-operation", at);
    quipu_patch_site((uint64_t)(page + at), (uint64_t)(page + FIRST), false);
    expect(is_patched((uint64_t)(page + at)), "it is no jump", at);
    expect(call(page + at) == 1, "it does not lead to its code", at);
    quipu_patch_site((uint64_t)(page + at), (uint64_t)(page + SECOND), false);
    expect(call(page + at) == 1, "a jump was replaced", at);
    quipu_patch_site((uint64_t)(page + at), (uint64_t)(page + SECOND), true);
    expect(call(page + at) == 2, "a jump was not replaced", at);
    expect(memcmp(page, around, at) == 0 &&
               memcmp(page + at + SITE, around + at + SITE, sizeof around - at - SITE) == 0,
           "other bytes were changed", at);
}

/* Text of this program, which cannot be written. */
__attribute__((noinline, aligned(LINE))) static int own_site(void) {
    int result;
    __asm__ volatile("movl $3, %0; .byte 0x0f, 0x1f, 0x44, 0x00, 0x00" : "=a"(result));
    return result;
}

static void try_own_text(void) {
    unsigned char *code;
    int (*function)(void) = own_site;
    memcpy(&code, &function, sizeof code);
    unsigned char *site = memmem(code, LINE, no_operation, SITE);
    expect(site != NULL, "no site", 0);
    if (!site)
        return;
    long error = quipu_patch_open((uint64_t)site, (uint64_t)site, true);
    expect(error == 0, "the text cannot be opened", 0);
    quipu_patch_site((uint64_t)site, (uint64_t)(site + SITE), false);
    expect(quipu_patch_open((uint64_t)site, (uint64_t)site, false) == 0, "it cannot be closed", 0);
    quipu_patch_synchronize();
    expect(*site == 0xe9 && own_site() == 3, "the program's own site", 0);
    char line[512];
    int closed = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps)) {
        char *end;
        unsigned long begin = strtoul(line, &end, 16), last = strtoul(end + 1, &end, 16);
        if ((unsigned long)site >= begin && (unsigned long)site < last)
            closed = strncmp(end, " r-xp", 5) == 0;
    }
    if (maps)
        fclose(maps);
    expect(closed, "the text stays open", 0);
}

int main(void) {
    unsigned char *page =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return 1;
    write_function(page + FIRST, 1);
    write_function(page + SECOND, 2);
    for (unsigned at = 0; at + SITE <= LINE; at++)
        try_site(page, at);
    quipu_patch_instruction((uint64_t)page, 8, (uint64_t)(page + SECOND));
    expect(call(page) == 2 && page[7] == 0x90, "an instruction of eight bytes", 0);
    try_own_text();
    return faults != 0;
}

// Calls each function of idioms.S, by the list that the test writes.
#include <stdio.h>

#define X(name) long name(long);
#include "idioms.inc"
#undef X

static const struct {
    const char *name;
    long (*function)(long);
} idioms[] = {
#define X(name) {#name, name},
#include "idioms.inc"
};

int main(void) {
    for (size_t i = 0; i < sizeof idioms / sizeof *idioms; i++) {
        printf("%s", idioms[i].name);
        for (long n = -1; n < 6; n++)
            printf(" %ld", idioms[i].function(n));
        printf("\n");
        fflush(stdout);
    }
    return 0;
}

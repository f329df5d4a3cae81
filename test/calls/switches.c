// Switches in functions that are called by pointers: a jump by a table stays in its function, also in
// one that calls nothing and keeps variables below the stack pointer.
// variants: -O0; -O1; -O2; -Os -fPIE; clang -O0; clang -O2
// least: 6
#include <stdio.h>

#define APART __attribute__((noinline))

static APART long step(const unsigned char *text, long at) {
    long first = at, sum = 0;
    for (;; at++) {
        switch (text[at]) {
        case 'a':
            sum += 1;
            break;
        case 'b':
            sum ^= 7;
            break;
        case 'c':
            sum *= 3;
            break;
        case 'd':
            sum -= 5;
            break;
        case 'e':
            at++;
            break;
        case 'f':
            sum += at;
            break;
        default:
            return sum * 16 + at - first;
        }
    }
}

static APART long turn(const unsigned char *text, long at) {
    switch (text[at] & 7) {
    case 0:
        return step(text, at) + 1;
    case 1:
        return step(text, at + 1) * 2;
    case 2:
        return at;
    case 3:
        return step(text, at + 2) ^ 9;
    case 4:
        return -at;
    default:
        return step(text, at + 3);
    }
}

static long (*volatile const steps[])(const unsigned char *, long) = {step, turn};

/* The table has the function's first instruction, too. */
static APART const unsigned char *skip(const unsigned char *text) {
    for (;;)
        switch (*text++) {
        case 'a':
        case 'd':
            continue;
        case 'b':
            text++;
            continue;
        case 'c':
            if (*text == 'b')
                return text;
            continue;
        case 'e':
            text += *text == 'f';
            continue;
        case 'f':
            if (text[1] == 'c')
                return text + 1;
            continue;
        default:
            return text;
        }
}

int main(void) {
    static const unsigned char text[] = "abcdefabacbdcebfdadcbaf.fedcba";
    long sum = 0;
    for (long i = 0; i < 20; i++)
        sum = sum * 31 + steps[i & 1](text, i) + *skip(text + i);
    printf("%ld\n", sum);
    return 0;
}

#!/bin/bash
# A string with control characters is told as one string in C, and UTF-8 stays readable.
. "$(dirname "$0")/lib.bash"
cat >characters.c <<'C'
#include <string.h>
char text[8], numbers[8];
int main(void) {
    strcpy(text, "a\033b\n\xc3\xa9");
    memcpy(numbers, "\1\2\3\4", 5);
    return 0;
}
C
quipu cc --quipu=watch -g -O0 characters.c -o characters || fail "cannot build"
quipu watch -e text -e numbers --log=hits -- ./characters >output 2>&1 || fail "$(cat output)"
grep -qF '"a\033b\n"  (' hits || fail "no string in C: $(cat hits)"
grep -qF -- '-> "\né"' hits || fail "no UTF-8: $(cat hits)"
grep -qF '{1, 2, 3, 4' hits || fail "no numbers: $(cat hits)"

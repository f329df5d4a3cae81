// Names of four hundred characters, as templates have them.
// variants: -O0; -O2
#include <stdio.h>

#define JOIN_(a, b) a##b
#define JOIN(a, b)  JOIN_(a, b)
#define LONG1       long_abcdefghijklmnopqrstuvwxyz_abcdefghijklmnopqrstuvwxyz_abcdefghijklmnopqrstuvwxyz_abcdefghijklmnopqrstuvwxyz
#define LONG2       JOIN(LONG1, _abcdefghijklmnopqrstuvwxyz_abcdefghijklmnopqrstuvwxyz_abcdefghijklmnopqrstuvwxyz_abcdefghijklmnopqr)
#define LONG3       JOIN(LONG2, _abcdefghijklmnopqrstuvwxyz_abcdefghijklmnopqrstuvwxyz_abcdefghijklmnopqrstuvwxyz_abcdefghijklmnopqr)
#define LONG        JOIN(LONG3, _abcdefghijklmnopqrstuvwxyz_abcdefghijklmnopqrstuvwxyz_abcdefghijklmnopqrstuvwxyz_abcdefghijklmnopqr)

__attribute__((noinline)) static int LONG(int n) {
    return n < 2 ? n : LONG(n - 1) + LONG(n - 2);
}

int main(void) {
    printf("%d\n", LONG(8));
    return 0;
}

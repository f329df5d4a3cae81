/* packed.c: a program with a library of its own, by LIBRARY. With an argument it executes itself
 * again, without. */
#include <stdio.h>
#include <unistd.h>

int add_up(int most);

#ifdef LIBRARY
int total;

int add_up(int most) {
    for (int i = 0; i <= most; i++)
        total += i;
    return total;
}
#else
int main(int argc, char **argv) {
    printf("%d\n", add_up(10));
    fflush(stdout);
    if (argc > 1)
        execl(argv[0], argv[0], (char *)NULL);
    return add_up(1) == 56 ? 5 : 1;
}
#endif

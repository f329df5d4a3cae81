// What other programs execute: its exit status is a sum up to its argument.
#include <stdlib.h>

int main(int argc, char **argv) {
    int sum = 0;
    for (int i = 0; argc > 1 && i <= atoi(argv[1]); i++)
        sum += i;
    return sum;
}

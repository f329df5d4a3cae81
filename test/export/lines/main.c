/* main.c: calls all parts. */
#include "lines.h"

int main(int count, char **arguments) {
    (void)arguments;
    if (count > 100)
        return checked(count);
    int sum = outer(count) + plain(count) + of_objects(count) + of_others(count);
    return sum + twice_of_one(count) + twice_of_two(count) == 0;
}

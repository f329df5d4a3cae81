/* ledger.c: a program with a fault that shows only later; 'quipu goto' finds when it happened.
 *
 * A move between accounts looks whether the amount is there, and not whether the fee is, too.  An
 * audit after each thousand moves finds an account below zero, and knows when it was changed last.
 */
#include <quipu.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    ACCOUNTS = 1000
};
long balance[ACCOUNTS];
struct quipu_moment changed[ACCOUNTS]; /* when each was changed last */

void change(int account, long amount) {
    balance[account] += amount;
    changed[account] = quipu_now();
}

void move(int from, int to, long amount) {
    if (balance[from] < amount)
        return;
    change(from, -amount - amount / 100); /* with the fee */
    change(to, amount);
}

int main(void) {
    char text[QUIPU_MOMENT_SIZE + sizeof "change"];
    for (int i = 0; i < ACCOUNTS; i++)
        balance[i] = 100000;
    for (int i = 1;; i++) {
        move(rand() % ACCOUNTS, rand() % ACCOUNTS, rand() % 1000);
        for (int j = 0; i % 1000 == 0 && j < ACCOUNTS; j++)
            if (balance[j] < 0) {
                quipu_print_moment(&changed[j], text, sizeof text);
                printf("after %d moves: account %d has %ld since %s\n", i, j, balance[j], text);
                return 1;
            }
    }
}

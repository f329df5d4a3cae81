// Two threads take from one account without a lock.  Sometimes more is taken than there was.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static struct { long balance; } account = {1000};

static long taken[2];

static void *withdraw(void *of) {
    long *mine = of;
    for (int i = 0; i < 300; i++)
        if (account.balance >= 10) {
            account.balance -= 10;
            *mine += 10;
        }
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, withdraw, &taken[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    if (taken[0] + taken[1] + account.balance == 1000)
        return 0;
    fprintf(stderr, "%ld + %ld + %ld\n", taken[0], taken[1], account.balance);
    abort();
}

/* seats: two clerks sell the seats of a hall. Now and then a seat is sold twice: nobody holds a
 * lock between the search for a free seat and its sale. It hardly ever shows. 'quipu record
 * --until-fails --shuffle' finds such a run, and in 'quipu replay' one reverse-continue leads to
 * the second sale. README.md tells it, and 'make demo' shows it. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    SEATS = 100
};

struct seat {
    int buyer; /* 0: it is free */
};

struct clerk {
    int buyer; /* the next one */
    struct seat *sold[SEATS];
    int count;
};

static struct seat hall[SEATS];

static struct seat *find_free(void) {
    for (int i = 0; i < SEATS; i++)
        if (!hall[i].buyer)
            return &hall[i];
    return NULL;
}

static void *work(void *of) {
    struct clerk *clerk = of;
    struct seat *seat;
    while ((seat = find_free()) && clerk->count < SEATS) {
        seat->buyer = clerk->buyer + clerk->count;
        clerk->sold[clerk->count++] = seat;
    }
    return NULL;
}

static void check(const struct seat *seat, int buyer) {
    if (seat->buyer == buyer)
        return;
    fprintf(stderr, "seat %d of customer %d now belongs to customer %d\n", (int)(seat - hall),
            buyer, seat->buyer);
    abort();
}

int main(void) {
    static struct clerk clerks[2] = {{.buyer = 1000}, {.buyer = 2000}};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, &clerks[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 2; i++)
        for (int n = 0; n < clerks[i].count; n++)
            check(clerks[i].sold[n], clerks[i].buyer + n);
    return 0;
}

/* Threads that compute without ticks: their turns end in the loop, in the middle of which an
 * address has a name. */
#include <pthread.h>
#include <stddef.h>

enum {
    THREADS = 2,
    ROUNDS = 150000000
};

static void *work(void *argument) {
    unsigned long value = (unsigned long)argument + 1;
    for (unsigned long i = 0; i < ROUNDS; i++)
        __asm__ volatile("lea 3(%0,%0,2), %0\n\t"
                         "rol $5, %0\n\t"
                         "lea 7(%0), %0\n\t"
                         ".globl middle%=\n"
                         "middle%=: rol $3, %0\n\t"
                         "lea 1(%0,%0,4), %0\n\t"
                         "xor %1, %0"
                         : "+r"(value)
                         : "r"(i));
    return (void *)value;
}

int main(void) {
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}

// Threads and processes that wait for each other, and for a signal, in loops without any system
// call: spin locks, tickets, flags.
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    THREADS = 3,
    ROUNDS = 4
};

static pthread_spinlock_t lock;
static volatile unsigned long mixed;
static atomic_int ticket, serving, alternating;
static volatile sig_atomic_t flag;

static void handle(int number) {
    flag = number;
}

static void *work(void *argument) {
    unsigned long number = (unsigned long)argument;
    for (int i = 0; i < ROUNDS; i++) {
        pthread_spin_lock(&lock);
        mixed = mixed * 31 + number;
        if (i % 2)
            usleep(100);
        pthread_spin_unlock(&lock);
        int mine = atomic_fetch_add(&ticket, 1);
        while (atomic_load(&serving) != mine)
            continue;
        mixed = mixed * 37 + number;
        mixed ^= (unsigned long)getppid();
        atomic_fetch_add(&serving, 1);
    }
    return argument;
}

/* Frequent calls, and a loop behind them: both take turns. */
static void alternate(int first) {
    for (int step = first; step < 4 * ROUNDS; step += 2) {
        for (int i = 0; i < 5; i++)
            mixed += (unsigned long)getppid();
        while (atomic_load(&alternating) != step)
            continue;
        mixed = mixed * 31 + (unsigned long)step;
        atomic_store(&alternating, step + 1);
    }
}

static void *alternate_there(void *argument) {
    alternate(1);
    return argument;
}

static void share(void) {
    volatile int *turn =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int status;
    if (fork() == 0) {
        usleep(1000);
        *turn = 1;
        while (*turn != 2)
            continue;
        _exit(3);
    }
    while (*turn != 1)
        continue;
    *turn = 2;
    wait(&status);
    printf("%x\n", status);
}

int main(void) {
    pthread_t threads[THREADS];
    pthread_create(&threads[0], NULL, alternate_there, NULL);
    alternate(0);
    pthread_join(threads[0], NULL);
    pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)(i + 1));
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%lx\n", mixed);
    signal(SIGALRM, handle);
    ualarm(20000, 0);
    while (!flag)
        continue;
    printf("signal %d\n", flag);
    share();
    return 5;
}

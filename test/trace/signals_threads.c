// Signals arrive while threads take tickets for their order.
// modes: trace; moment,trace
// variants: -O2; -O2 -fPIC -pie
// flags: -pthread
// counts
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

enum { ROUNDS = 20000, THREADS = 2, SIGNALS = 400 };

static atomic_int handled, shared;
static sem_t semaphore;
static pthread_barrier_t end;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long sum;

static void handle(int number) {
    atomic_fetch_add(&handled, number != 0);
    sem_post(&semaphore);
}

static void *run(void *argument) {
    for (int i = 0; i < ROUNDS; i++) {
        atomic_fetch_add(&shared, 1);
        if (i % 16 == 0) {
            pthread_mutex_lock(&mutex);
            sum += i;
            pthread_mutex_unlock(&mutex);
        }
        if (i % 256 == 0)
            getppid();
    }
    pthread_barrier_wait(&end);
    return argument;
}

int main(void) {
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
    pthread_t threads[THREADS];
    sigaction(SIGUSR1, &action, NULL);
    sem_init(&semaphore, 0, 0);
    pthread_barrier_init(&end, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, run, NULL);
    for (int i = 0; i < SIGNALS; i++) {
        pthread_kill(threads[i % THREADS], SIGUSR1);
        sem_wait(&semaphore);
    }
    pthread_barrier_wait(&end);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return atomic_load(&shared) == THREADS * ROUNDS && atomic_load(&handled) == SIGNALS ? 0 : 1;
}

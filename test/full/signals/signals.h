/* signals.h: programs that keep what their signal handlers are told.
 *
 *     program          work(number) in THREADS threads, one after the other; signals come
 *     program raise    one signal comes: the handler's own events are looked at
 *
 * Prints the sums.  File 'told' gets workers[]: counts at each signal, by kinds[]. */
#include <pthread.h>
#include <quipu.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SIGNALS = 4000, KINDS = 16, WORKERS = 2 };

static const enum quipu_kind kinds[KINDS] = {
    QUIPU_INSTRUCTIONS,       QUIPU_BLOCKS, QUIPU_BRANCHES,       QUIPU_BRANCHES_TAKEN,
    QUIPU_BRANCHES_NOT_TAKEN, QUIPU_CALLS,  QUIPU_RETURNS,        QUIPU_LOADS,
    QUIPU_STORES,             QUIPU_FLOATING_POINT, QUIPU_VECTOR, QUIPU_ATOMIC,
    QUIPU_BYTES_LOADED,       QUIPU_BYTES_STORED,
    /* classes, in the order of the build's options */
    (enum quipu_kind)16,      (enum quipu_kind)17};

static struct worker {
    uint64_t at[SIGNALS][KINDS];
    uint32_t signals, sum;
} workers[WORKERS];

static __thread struct worker *self = &workers[0];

unsigned work(unsigned number);

/* Has the same events each time that it is called. */
static void handle(int number, siginfo_t *information, void *context) {
    (void)number, (void)information;
    uint64_t *at = self->at[self->signals];
    self->signals += self->signals < SIGNALS - 1;
    for (int i = 0; i < KINDS; i++)
        at[i] = quipu_events_at(kinds[i], context);
}

/* A timer of the calling thread. */
static timer_t start_timer(void) {
    struct sigevent event;
    struct itimerspec often = {{0, 10000000}, {0, 10000000}};
    timer_t timer;
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = SIGALRM;
    event._sigev_un._tid = (int)syscall(SYS_gettid);
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &often, NULL))
        perror("timer");
    return timer;
}

static void *start(void *argument) {
    self = argument;
    timer_t timer = start_timer();
    self->sum = work((unsigned)(self - workers));
    timer_delete(timer);
    return NULL;
}

static void catch_signals(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = handle;
    action.sa_flags = SA_SIGINFO;
    sigfillset(&action.sa_mask);
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGALRM, &action, NULL);
}

int main(int argc, char **argv) {
    (void)argv;
    catch_signals();
    if (argc > 1)
        return raise(SIGUSR1);
    start(&workers[0]);
    pthread_t thread;
    if (pthread_create(&thread, NULL, start, &workers[1]) || pthread_join(thread, NULL))
        return 1;
    FILE *file = fopen("told", "wb"); /* printing it would be a long run */
    if (!file || fwrite(workers, sizeof workers, 1, file) != 1 || fclose(file))
        return 1;
    printf("%u %u\n", workers[0].sum, workers[1].sum);
    return 0;
}

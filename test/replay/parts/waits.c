// Threads that wait for each other in calls of many kinds, so the turn passes inside of the
// process, in the ways that its argument names:
//   plain    pipes, semaphores, condition variables, poll, sleeps, socket pairs, eventfd
//   signals  the same, while signals come in that handlers take, and calls are restarted
//   breaks   the same, but calls are interrupted
//   stops    the same, while a child stops and continues the process
//   forks    one thread makes children, which make calls and threads, while the others wait
//   crowd    100 threads wait at a time
//   large    reads that fill the log while others wait
//   executes one thread executes another program while others wait
//   ends     the first thread ends, then the others by exit_group, while some wait
//   leaves   a call that ends the recording, while others wait; they go on
// What it prints depends on each result, and on the order in which the threads have come.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    ROUNDS = 400,
    CROWD = 100,
    LARGE = 50000
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static unsigned long sum, hits, turn_of_condition;
static int pipes[2][2], sockets[2], counter;
static sem_t ping, pong;
static unsigned rounds = ROUNDS;

static void add(unsigned long value) {
    pthread_mutex_lock(&lock);
    sum = sum * 31 + value;
    pthread_mutex_unlock(&lock);
}

static void add_time(unsigned long value) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    add(value + (unsigned long)now.tv_nsec);
}

static void handle(int number) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    __atomic_add_fetch(&hits, (unsigned long)number + (unsigned long)now.tv_nsec % 3,
                       __ATOMIC_SEQ_CST);
}

// ---- pairs of threads ----

static void *pipe_there(void *unused) {
    char byte;
    for (unsigned i = 0; i < rounds; i++) {
        while (write(pipes[0][1], "a", 1) != 1)
            add(1);
        while (read(pipes[1][0], &byte, 1) != 1)
            add(2);
        add_time((unsigned char)byte);
    }
    return unused;
}

static void *pipe_back(void *unused) {
    char byte;
    for (unsigned i = 0; i < rounds; i++) {
        while (read(pipes[0][0], &byte, 1) != 1)
            add(3);
        byte++;
        while (write(pipes[1][1], &byte, 1) != 1)
            add(4);
    }
    return unused;
}

static void *semaphore_there(void *unused) {
    for (unsigned i = 0; i < rounds; i++) {
        sem_post(&ping);
        while (sem_wait(&pong))
            add(5);
        add(6);
    }
    return unused;
}

static void *semaphore_back(void *unused) {
    for (unsigned i = 0; i < rounds; i++) {
        while (sem_wait(&ping))
            add(7);
        sem_post(&pong);
    }
    return unused;
}

static void *condition(void *which) {
    for (unsigned i = 0; i < rounds; i++) {
        pthread_mutex_lock(&lock);
        while (turn_of_condition % 2 != (unsigned long)which)
            pthread_cond_wait(&changed, &lock);
        turn_of_condition++;
        sum = sum * 7 + turn_of_condition;
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

// Waits with a time that ends before anything else comes, or just then.
static void *sleeper(void *unused) {
    for (unsigned i = 0; i < rounds / 8; i++) {
        struct timespec nap = {0, 100000 + 1000 * i}, left = {0, 0};
        struct pollfd none = {.fd = pipes[0][0], .events = 0};
        if (nanosleep(&nap, &left))
            add((unsigned long)left.tv_nsec);
        add((unsigned long)poll(&none, 1, 1) + (unsigned long)errno);
    }
    return unused;
}

static void *socket_there(void *unused) {
    char bytes[40];
    for (unsigned i = 0; i < rounds; i++) {
        while (send(sockets[0], bytes, 1 + i % sizeof bytes, 0) < 0)
            add(8);
        ssize_t count;
        while ((count = recv(sockets[0], bytes, sizeof bytes, 0)) < 0)
            add(9);
        add((unsigned long)count);
    }
    return unused;
}

static void *socket_back(void *unused) {
    char bytes[40];
    for (unsigned i = 0; i < rounds; i++) {
        struct pollfd ready = {.fd = sockets[1], .events = POLLIN};
        while (poll(&ready, 1, -1) != 1)
            add(10);
        ssize_t count = recv(sockets[1], bytes, sizeof bytes, 0);
        while (send(sockets[1], bytes, (size_t)(count < 0 ? 1 : count), 0) < 0)
            add(11);
    }
    return unused;
}

static void *count_up(void *unused) {
    uint64_t one = 1;
    for (unsigned i = 0; i < rounds; i++) {
        while (write(counter, &one, sizeof one) < 0)
            add(12);
        if (i % 8 == 0)
            usleep(50);
    }
    one = 1ul << 40;
    while (write(counter, &one, sizeof one) < 0)
        add(13);
    return unused;
}

static void *count_down(void *unused) {
    uint64_t value = 0;
    while (value < 1ul << 40)
        if (read(counter, &value, sizeof value) > 0)
            add(value);
    return unused;
}

static void *(*const pairs[])(void *) = {pipe_there, pipe_back,    semaphore_there, semaphore_back,
                                         sleeper,    socket_there, socket_back,     count_up,
                                         count_down, condition,    condition};

enum {
    THREADS = sizeof pairs / sizeof *pairs
};

static pthread_t threads[THREADS];

static void start_threads(void) {
    if (pipe(pipes[0]) || pipe(pipes[1]) || socketpair(AF_UNIX, SOCK_DGRAM, 0, sockets))
        exit(1);
    counter = eventfd(0, 0);
    sem_init(&ping, 0, 0);
    sem_init(&pong, 0, 0);
    for (size_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, pairs[i], (void *)(i % 2));
}

static void join_threads(void) {
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

// ---- ways ----

static void plain(void) {
    start_threads();
    join_threads();
}

static void with_signals(int flags) {
    struct sigaction action = {.sa_handler = handle, .sa_flags = flags};
    struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
    sigaction(SIGALRM, &action, NULL);
    sigaction(SIGUSR1, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    start_threads();
    for (int i = 0; i < 200; i++) {
        pthread_kill(threads[i % 2 ? 0 : 3], SIGUSR1); // they may have ended, but are not joined
        usleep(100);
    }
    join_threads();
    setitimer(ITIMER_REAL, &never, NULL);
}

static void with_stops(void) {
    pid_t parent = getpid(), child = fork();
    if (!child) {
        for (int i = 0; i < 20; i++) {
            usleep(500);
            kill(parent, SIGSTOP);
            usleep(500);
            kill(parent, SIGCONT);
        }
        _exit(0);
    }
    start_threads();
    join_threads();
    waitpid(child, NULL, 0);
}

static void with_forks(void) {
    start_threads();
    for (int i = 0; i < 20; i++) {
        int status = 0;
        pid_t child = fork();
        if (!child) {
            pthread_t thread;
            rounds = 20;
            pthread_create(&thread, NULL, sleeper, NULL);
            for (int k = 0; k < 30; k++)
                getppid();
            pthread_join(thread, NULL);
            _exit(i);
        }
        waitpid(child, &status, 0);
        add((unsigned long)status + (unsigned long)child);
    }
    join_threads();
}

static void *one_of_crowd(void *number) {
    for (int i = 0; i < 5; i++) {
        sem_wait(&ping);
        add_time((unsigned long)number);
    }
    return NULL;
}

static void crowd(void) {
    pthread_t all[CROWD];
    sem_init(&ping, 0, 0);
    for (size_t i = 0; i < CROWD; i++)
        pthread_create(&all[i], NULL, one_of_crowd, (void *)i);
    for (size_t i = 0; i < (size_t)CROWD * 5; i++) {
        sem_post(&ping);
        if (i % 7 == 0)
            usleep(10);
    }
    for (size_t i = 0; i < CROWD; i++)
        pthread_join(all[i], NULL);
}

static void *reads_large(void *unused) {
    static char bytes[LARGE];
    for (int i = 0; i < 60; i++) {
        size_t have = 0;
        while (have < sizeof bytes) {
            ssize_t count = read(pipes[0][0], bytes + have, sizeof bytes - have);
            have += (size_t)(count > 0 ? count : 0);
            add((unsigned long)count);
        }
        add((unsigned char)bytes[i]);
    }
    return unused;
}

static void large(void) {
    static char bytes[LARGE];
    pthread_t reader;
    int random = open("/dev/urandom", O_RDONLY);
    if (pipe(pipes[0]))
        exit(1);
    pthread_create(&reader, NULL, reads_large, NULL);
    for (int i = 0; i < 60; i++) {
        size_t have = 0;
        if (read(random, bytes, sizeof bytes) != (ssize_t)sizeof bytes)
            exit(1);
        while (have < sizeof bytes)
            have += (size_t)write(pipes[0][1], bytes + have, sizeof bytes - have);
    }
    pthread_join(reader, NULL);
}

static void *executes(void *unused) {
    usleep(3000);
    execl("/bin/sh", "sh", "-c", "echo executed $$; exit 3", (char *)NULL);
    return unused;
}

static void *ends_all(void *unused) {
    usleep(5000);
    printf("%lu\n", sum);
    exit(3);
    return unused;
}

static void *ends_recording(void *unused) {
    usleep(2000);
    unsigned long long make[8] = {CLONE_UNTRACED, 0, 0, 0, SIGCHLD};
    if (syscall(SYS_clone3, make, sizeof make) == 0)
        _exit(0);
    wait(NULL);
    return unused;
}

int main(int argc, char **argv) {
    const char *way = argc > 1 ? argv[1] : "plain";
    pthread_t other;
    if (!strcmp(way, "signals")) {
        with_signals(SA_RESTART);
    } else if (!strcmp(way, "breaks")) {
        with_signals(0);
    } else if (!strcmp(way, "stops")) {
        with_stops();
    } else if (!strcmp(way, "forks")) {
        with_forks();
    } else if (!strcmp(way, "crowd")) {
        crowd();
    } else if (!strcmp(way, "large")) {
        large();
    } else if (!strcmp(way, "executes")) {
        pthread_create(&other, NULL, executes, NULL);
        rounds = 1 << 30;
        plain();
    } else if (!strcmp(way, "ends")) {
        pthread_create(&other, NULL, ends_all, NULL);
        rounds = 1 << 30;
        start_threads();
        pthread_exit(NULL);
    } else if (!strcmp(way, "leaves")) {
        puts("before");
        fflush(stdout);
        pthread_create(&other, NULL, ends_recording, NULL);
        rounds = 20 * ROUNDS;
        plain();
        puts("after");
        return 3;
    } else {
        plain();
    }
    printf("%lu %lu\n", sum, hits);
    return 3;
}

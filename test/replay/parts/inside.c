// Makes many system calls, which are recorded inside of it, in the ways that its argument names:
//   signals  while a timer's signals come in, with handlers that make calls; calls are restarted
//   breaks   the same, but calls are interrupted
//   threads  of four threads, with signals
//   filter   with a filter of its own, which hides calls from others
//   map      and reads its memory map in small pieces
// What it prints depends on each result and on where each signal has come in.
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    ROUNDS = 6000
};

static volatile unsigned long hits, sum;
static volatile unsigned long rounds;
static volatile bool has_timer;
static int ends[2];

/* The next signal comes a while later, whatever the last one has cost. */
static void set_timer(void) {
    struct itimerval next = {{0, 0}, {0, 500}};
    if (has_timer)
        setitimer(ITIMER_REAL, &next, NULL);
}

static void handle(int number) {
    struct timespec now;
    char byte;
    (void)number;
    hits++;
    clock_gettime(CLOCK_REALTIME, &now);
    sum = sum * 31 + rounds + (unsigned long)now.tv_nsec + (unsigned long)getppid();
    int file = open("/dev/urandom", O_RDONLY);
    if (read(file, &byte, 1) == 1)
        sum += (unsigned char)byte;
    close(file);
    set_timer();
}

static void start_timer(int flags) {
    struct sigaction action = {.sa_handler = handle, .sa_flags = flags};
    sigaction(SIGALRM, &action, NULL);
    has_timer = true;
    set_timer();
}

static void stop_timer(void) {
    struct itimerval never = {{0, 0}, {0, 0}};
    has_timer = false;
    setitimer(ITIMER_REAL, &never, NULL);
}

/* Short calls of several kinds: of files, of a pipe, of the clock; the number is of what they gave.
 */
static void *work(void *seed) {
    unsigned long value = (unsigned long)seed;
    char bytes[64];
    int file = open("/etc/passwd", O_RDONLY), interrupted = 0;
    for (int i = 0; i < ROUNDS; i++) {
        struct timespec now;
        rounds++;
        value = value * 33 + (unsigned long)getppid();
        if (pread(file, bytes, 50, i % 100) == 50)
            value += (unsigned char)bytes[3];
        clock_gettime(CLOCK_MONOTONIC, &now);
        value = value * 7 + (unsigned long)now.tv_nsec;
        if (i % 100 == 0) {
            if (write(ends[1], &value, 8) != 8 || lseek(file, i % 300, SEEK_SET) < 0)
                value++;
            while (read(ends[0], bytes, 8) != 8)
                interrupted++;
            value += (unsigned char)bytes[0];
        }
    }
    close(file);
    return (void *)(value + (unsigned long)interrupted);
}

/* A child whose pipe is read in calls that wait, and programs that are executed meanwhile. */
static void wait_for_others(void) {
    int status, pipe_ends[2];
    char byte;
    if (pipe(pipe_ends) != 0)
        return;
    pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < 40; i++) {
            usleep(300);
            while (write(pipe_ends[1], "x", 1) != 1)
                ;
        }
        _exit(0);
    }
    for (int i = 0; i < 40; i++) {
        while (read(pipe_ends[0], &byte, 1) != 1)
            sum++;
        if (i % 10 == 0) {
            pid_t other = vfork();
            if (other == 0) {
                execl("/bin/true", "true", (char *)NULL);
                _exit(1);
            }
            while (waitpid(other, &status, 0) < 0)
                sum++;
        }
    }
    while (waitpid(child, &status, 0) < 0)
        sum++;
}

/* getppid fails from now on, which no one is told of. */
static void add_filter(void) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 13),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0)
        puts("no filter");
}

static void print_map(size_t most) {
    char bytes[256];
    int file = open("/proc/self/maps", O_RDONLY);
    ssize_t count;
    while ((count = read(file, bytes, most)) > 0)
        fwrite(bytes, 1, (size_t)count, stdout);
    close(file);
}

int main(int count, char **arguments) {
    const char *way = count > 1 ? arguments[1] : "";
    unsigned long value = 0;
    if (pipe(ends) != 0)
        return 2;
    if (strcmp(way, "filter") == 0) {
        work(NULL);
        add_filter();
    }
    if (strcmp(way, "signals") == 0 || strcmp(way, "threads") == 0)
        start_timer(SA_RESTART);
    if (strcmp(way, "breaks") == 0)
        start_timer(0);
    if (strcmp(way, "threads") == 0) {
        pthread_t threads[4];
        for (unsigned long i = 0; i < 4; i++)
            pthread_create(&threads[i], NULL, work, (void *)i);
        for (int i = 0; i < 4; i++) {
            void *result;
            pthread_join(threads[i], &result);
            value = value * 5 + (unsigned long)result;
        }
    } else {
        value = (unsigned long)work(NULL);
        wait_for_others();
    }
    stop_timer();
    if (strcmp(way, "map") == 0) {
        print_map(256);
        print_map(60);
    }
    printf("%lu %lu %lu\n", value, hits ? 1ul : 0, sum);
    return 3;
}

// Processes: fork, vfork, posix_spawn, clone, exec from a thread, orphans, deaths by signals, and
// statuses in the order in which they come.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static volatile int shared = 1;
static volatile sig_atomic_t children;

static void count(int number) {
    (void)number;
    children++;
}

static void tell(const char *what, pid_t child) {
    int status = 0;
    pid_t ended = waitpid(child, &status, 0);
    printf("%s %d: %d ended with %x, %d signals\n", what, (int)getpid(), (int)ended, status,
           children);
}

static void orphan(void) {
    int ends[2];
    char text[64] = "";
    if (pipe(ends) != 0)
        abort();
    pid_t child = fork();
    if (child == 0) {
        if (fork() == 0) { /* it outlives its parent */
            while (getppid() != 1 && shared++ < 200)
                usleep(1000);
            dprintf(ends[1], "orphan %d", (int)getpid());
            usleep(20000);
            printf("the orphan goes on\n");
            exit(0);
        }
        exit(1);
    }
    close(ends[1]);
    tell("parent", child);
    while (read(ends[0], text, sizeof text - 1) > 0)
        printf("%s\n", text);
}

static int in_clone(void *argument) {
    shared += *(int *)argument;
    return 12;
}

static void share(void) {
    static char stack[1 << 16];
    int number = 5;
    pid_t child = clone(in_clone, stack + sizeof stack, CLONE_VM | SIGCHLD, &number);
    tell("clone", child);
    child = vfork();
    if (child == 0) {
        shared += 100;
        _exit(shared);
    }
    tell("vfork", child);
    printf("%d\n", shared);
}

static void *execute(void *argument) {
    execl("/bin/sh", "sh", "-c", argument, NULL);
    return NULL;
}

static void *stand(void *argument) {
    pause();
    return argument;
}

int main(int argc, char **argv) {
    char *words[] = {"sh", "-c", "echo spawned $$; exit 9", NULL};
    pthread_t thread;
    pid_t child;
    if (argc > 1 && strcmp(argv[1], "abort") == 0)
        abort();
    setvbuf(stdout, NULL, _IOLBF, 0);
    signal(SIGCHLD, count);
    share();
    if (posix_spawn(&child, "/bin/sh", NULL, NULL, words, environ) == 0)
        tell("spawn", child);
    if (posix_spawn(&child, "/missing", NULL, NULL, words, environ) != 0)
        puts("nothing is there");
    for (int i = 0; i < 3; i++) {
        child = fork();
        if (child == 0) {
            if (i == 0)
                execl(argv[0], argv[0], "abort", NULL);
            pause();
            exit(1);
        }
        if (i)
            kill(child, i == 1 ? SIGKILL : SIGTERM);
        tell("killed", child);
    }
    orphan();
    fflush(stdout);
    pthread_create(&thread, NULL, stand, NULL);
    pthread_create(&thread, NULL, execute, "echo $$ from a thread; exit 8");
    pause();
    return 0;
}

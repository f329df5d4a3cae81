// Children, by fork and by posix_spawn, whose child has the parent's memory for a while: breakpoints
// stand in the parent as before.  A child that counts is left alone.
// no-twin
// watch: counter
// visits: 40
// variants: -O0; -O2 -fno-pie -no-pie
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
volatile unsigned long counter;

__attribute__((noinline)) static unsigned long work(unsigned n) {
    unsigned long sum = 0;
    for (unsigned i = 0; i < n; i++)
        sum += ++counter;
    return sum;
}

int main(void) {
    char *words[] = {"true", NULL};
    int status = 0;
    pid_t child;
    unsigned long sum = 0;
    for (int i = 0; i < 3; i++) {
        sum += work(400);
        if (posix_spawnp(&child, "true", NULL, NULL, words, environ) == 0)
            waitpid(child, &status, 0);
        sum += work(20) + (unsigned)status;
        child = fork();
        if (child == 0)
            _exit((int)work(30) & 15);
        waitpid(child, &status, 0);
        sum += work(400) + (unsigned)status;
    }
    printf("%lu\n", sum);
    return 0;
}

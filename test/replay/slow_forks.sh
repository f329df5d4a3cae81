#!/bin/bash
# A fork that copies much memory takes longer than a thread waits for a call. The copy has what the memory was then, so
# other threads do not change it meanwhile.
. "$(dirname "$0")/lib.bash"
cat >forks.c <<'END_OF_PROGRAM'
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
enum {
    SIZE = 600 << 20
};
static volatile unsigned long changes[512];
static volatile int is_over;
static void *change(void *unused) {
    while (!is_over) {
        for (int i = 0; i < 512; i++)
            changes[i]++;
        usleep(1);
    }
    return unused;
}
int main(void) {
    pthread_t thread;
    char *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(memory, SIZE, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < SIZE; i += 4096)
        memory[i] = 1;
    pthread_create(&thread, NULL, change, NULL);
    for (int i = 0; i < 5; i++) {
        usleep(1000);
        pid_t child = fork();
        if (!child) {
            printf("%lu\n", changes[511]);
            fflush(stdout);
            _exit(0);
        }
        waitpid(child, NULL, 0);
    }
    is_over = 1;
    pthread_join(thread, NULL);
    return 0;
}
END_OF_PROGRAM
gcc -D_GNU_SOURCE -O1 -pthread -o forks forks.c || fail "cannot build 'forks'"
repeats 0 ./forks

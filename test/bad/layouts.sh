#!/bin/bash
# Wherever the kernel puts executable and mappings, threads and children count in cells of their own.
. "$(dirname "$0")/lib.bash"
cat >source <<'C'
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, TURNS = 20000 };

__attribute__((noinline)) void visit(volatile int *sum) {
    ++*sum;
}

static void *work(void *argument) {
    volatile int sum = 0;
    for (int i = 0; i < TURNS; i++)
        visit(&sum);
    return argument;
}

int main(void) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, work, NULL))
            return 1;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pid_t child = fork();
    work(NULL);
    return child ? (wait(NULL), 0) : 0;
}
C

# counts COMMAND...: it runs without a word, and each turn of each thread and process is counted.
counts() {
    rm -rf quipu.data
    ends 0 "$@"
    [[ ! -s messages ]] || fail "'$*' said: $(cat messages)"
    expect_calls visit 120000
}

unlimited() {
    bash -c 'ulimit -s unlimited && exec "$@"' - "$@"
}

for options in -no-pie -pie -static -static-pie '-fPIC -pie' '-fPIC -static-pie'; do
    # shellcheck disable=SC2086
    make_program program -O2 -pthread $options <source
    counts ./program
    counts unlimited ./program
    counts setarch -R ./program
    counts setarch -L ./program
    [[ $options == *static* ]] || counts /lib64/ld-linux-x86-64.so.2 ./program
done

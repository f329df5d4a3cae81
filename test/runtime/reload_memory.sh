#!/bin/bash
# A program that opens and closes shared objects again and again takes no more memory with each
# time, in any mode, with and without threads that follow one another.
. "$(dirname "$0")/../bad/lib.bash"
{
    echo 'static int value;'
    for i in $(seq 300); do
        echo "__attribute__((noipa)) static void STEP$i(int x) { value += x; }" | sed "s/STEP/s/"
    done
    echo 'int run(void) {'
    for i in $(seq 300); do echo "s$i(1);"; done
    echo 'return value; }'
} >plugin.c
cat >main.c <<'EOT'
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static void *call(void *function) {
    return (void *)(long)((int (*)(void))function)();
}
static long pages(void) {
    long size = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (fscanf(file, "%ld", &size) != 1)
        abort();
    fclose(file);
    return size;
}
/* main THREADED: prints how many pages it has grown by from one half of the rounds to the other. */
int main(int argc, char **argv) {
    long before = 0;
    for (int i = 0; i < 120; i++) {
        void *handle = dlopen(i % 3 ? "./a.so" : "./b.so", RTLD_NOW);
        void *function = dlsym(handle, "run");
        pthread_t thread;
        if (argc > 1 && pthread_create(&thread, 0, call, function) == 0)
            pthread_join(thread, 0);
        else
            call(function);
        dlclose(handle);
        if (i == 59)
            before = pages();
    }
    printf("%ld\n", pages() - before);
    return 0;
}
EOT
for mode in none count event moment calls watch count,event,moment,calls; do
    quipu cc --quipu=$mode -O1 -fPIC -shared plugin.c -o a.so || fail "$mode: cannot build a.so"
    quipu cc --quipu=$mode -O1 -fPIC -shared -Dvalue=other plugin.c -o b.so ||
        fail "$mode: cannot build b.so"
    quipu cc --quipu=$mode -O1 -pthread main.c -o program || fail "$mode: cannot build"
    for threaded in '' threaded; do
        QUIPU_DATA=data ends 0 ./program $threaded
        [ "$(cat output)" -le 2 ] || fail "$mode $threaded: $(cat output) pages more in 60 rounds"
        rm -rf data
    done
done

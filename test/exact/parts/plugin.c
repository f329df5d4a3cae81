// A shared object that dlopen.c and dlopen_threads.c load.
#include <stdio.h>

int plugin_work(int n);

static int calls;

__attribute__((constructor)) static void begins(void) {
    for (int i = 0; i < 3; i++)
        calls += i;
}

__attribute__((destructor)) static void ends(void) {
    printf("closed after %d\n", calls);
    fflush(stdout);
}

int plugin_work(int n) {
    calls++;
    int sum = calls;
    while (n > 0) {
        sum += n * 2;
        n--;
    }
    return sum;
}

// A shared object that tells its moments, in two threads: see objects.sh.
#include <pthread.h>
#include <quipu.h>
#include <stdio.h>
int visits;
__attribute__((constructor)) static void begin(void) {
    visits = 1;
}
__attribute__((noipa)) static void visit(int n) {
    char text[256];
    visits += n;
    struct quipu_moment now = quipu_now();
    quipu_print_moment(&now, text, sizeof text);
    printf("%s %d\n", text, visits);
    fflush(stdout);
}
static void *visit_ten(void *argument) {
    for (int i = 0; i < 10; i++)
        visit(i);
    return argument;
}
int run(void) {
    pthread_t thread;
    visit_ten(NULL);
    return pthread_create(&thread, NULL, visit_ten, NULL) || pthread_join(thread, NULL);
}

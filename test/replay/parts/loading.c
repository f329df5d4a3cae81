// Loads a shared object in a second thread, and runs it in the first: see objects.sh.
#include <dlfcn.h>
#include <pthread.h>
static int (*run)(void);
static void *load(void *path) {
    void *library = dlopen(path, RTLD_NOW);
    run = library ? (int (*)(void))dlsym(library, "run") : NULL;
    return NULL;
}
int main(int argc, char **argv) {
    pthread_t thread;
    if (argc < 2 || pthread_create(&thread, NULL, load, argv[1]) || pthread_join(thread, NULL))
        return 2;
    return run ? run() : 3;
}

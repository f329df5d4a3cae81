/* host.c: a program without instrumentation that uses an instrumented shared object.
 *
 *     host linked TIMES          it is linked to the object
 *     host reopen OBJECT CYCLES  opens, uses and closes it again and again, from other directories
 *     host fork OBJECT           opens it in a child as well */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef void work_function(unsigned long times);

static void check(int condition, const char *what) {
    if (condition)
        return;
    printf("host: %s\n", what);
    exit(1);
}

static void *open_object(const char *path, work_function **work) {
    void *object = dlopen(path, RTLD_NOW);
    check(object != NULL, "cannot open the object");
    *(void **)work = dlsym(object, "library_work");
    return object;
}

static void *work_in_thread(void *work) {
    ((work_function *)work)(10);
    return NULL;
}

static int count_mappings(void) {
    char line[8192];
    int count = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    check(maps != NULL, "cannot read its mappings");
    while (fgets(line, sizeof line, maps))
        count += strstr(line, ".quipu") != NULL;
    fclose(maps);
    return count;
}

/* A thread that lives all the time meets the object anew in each cycle, as do others that come and
 * go.  Mappings must not pile up. */
static int reopen(const char *path, int cycles) {
    int mappings = 0;
    for (int i = 0; i < cycles; i++) {
        work_function *work;
        void *object = open_object(path, &work);
        pthread_t thread;
        work(10);
        check(pthread_create(&thread, NULL, work_in_thread, (void *)work) == 0, "no thread");
        pthread_join(thread, NULL);
        if (i == 0)
            mappings = count_mappings();
        check(count_mappings() == mappings, "mappings pile up");
        check(dlclose(object) == 0, "cannot close the object");
    }
    return 0;
}

static int fork_between(const char *path) {
    work_function *work;
    void *object = open_object(path, &work);
    work(1);
    dlclose(object);
    pid_t child = fork();
    check(child >= 0, "cannot fork");
    object = open_object(path, &work);
    work(child ? 100 : 10);
    int status = 0;
    if (child)
        check(waitpid(child, &status, 0) == child && status == 0, "the child failed");
    return 0;
}

#ifdef LINKED
work_function library_work;
#endif

int main(int argc, char **argv) {
#ifdef LINKED
    if (argc == 3 && strcmp(argv[1], "linked") == 0)
        library_work(strtoul(argv[2], NULL, 10));
    else
        return 2;
    return 0;
#else
    if (argc == 4 && strcmp(argv[1], "reopen") == 0)
        return reopen(argv[2], atoi(argv[3]));
    if (argc == 3 && strcmp(argv[1], "fork") == 0)
        return fork_between(argv[2]);
    return 2;
#endif
}

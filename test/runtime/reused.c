/* reused.c: processes that get the number of a dead relative.  With COUNTED it is instrumented.
 *
 *     reused prepared FILE        children that find files with their numbers, lock held
 *     reused FORK CHILDREN [OBJECT...]  one after the other, all with number 500
 *     reused ancestor FORK OBJECT       a grandchild has its dead grandparent's number, 500
 *
 * FORK is 'fork' or 'clone', which runs no handlers.  Child K counts 10^K, and opens, uses, closes
 * each OBJECT twice.  Only the first process of a namespace can choose numbers. */
#include "count.h"

#include "format/data_file.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    NUMBER = 500,
    PREPARED = 300 /* process numbers, from the parent's on */
};

static void check(int condition, const char *what) {
    if (condition)
        return;
    printf("reused: %s\n", what);
    exit(1);
}

#ifdef COUNTED
CELLS(reused, 1);
static void work(unsigned long times) {
    for (unsigned long i = 0; i < times; i++)
        COUNT(reused, 0);
}
#else
static void work(unsigned long times) {
    (void)times;
}
#endif

static pid_t new_process(const char *kind) {
    pid_t child =
        strcmp(kind, "fork") == 0 ? fork() : (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    check(child >= 0, "cannot fork");
    return child;
}

static void choose_number(void) {
    FILE *file = fopen("/proc/sys/kernel/ns_last_pid", "w");
    check(file && fprintf(file, "%d", NUMBER - 1) > 0 && fclose(file) == 0, "no number");
}

static void use_object(const char *path, unsigned long times) {
    void (*library_work)(unsigned long);
    void *object = dlopen(path, RTLD_NOW);
    check(object != NULL, "cannot open the object");
    *(void **)&library_work = dlsym(object, "library_work");
    library_work(times);
    dlclose(object);
}

static void join(pid_t child) {
    int status;
    check(waitpid(child, &status, 0) == child && status == 0, "a child failed");
}

static int do_siblings(const char *kind, char **arguments) {
    unsigned long times = 10;
    for (int k = atoi(arguments[0]); k > 0; k--, times *= 10) {
        choose_number();
        pid_t child = new_process(kind);
        if (child > 0) {
            join(child);
            continue;
        }
        check(getpid() == NUMBER, "the child has another number");
        work(times);
        for (char **object = arguments + 1; *object; object++)
            for (int i = 0; i < 2; i++)
                use_object(*object, times);
        _exit(0);
    }
    return 0;
}

/* The first process makes the second, which makes the third when the first is dead. */
static void run_ancestor(const char *kind, const char *object) {
    check(getpid() == NUMBER, "the ancestor has another number");
    use_object(object, 100);
    if (new_process(kind) > 0)
        _exit(0);
    while (kill(NUMBER, 0) == 0)
        usleep(1000);
    choose_number();
    pid_t child = new_process(kind);
    if (child == 0) {
        check(getpid() == NUMBER, "the grandchild has another number");
        use_object(object, 10);
        use_object(object, 10);
        _exit(0);
    }
    join(child);
    _exit(0);
}

static int do_ancestor(char **arguments) {
    int status, failed = 0;
    choose_number();
    if (new_process(arguments[0]) == 0)
        run_ancestor(arguments[0], arguments[1]);
    while (wait(&status) > 0)
        failed |= status != 0;
    return failed;
}

/* Writes what a relative would have left: the file FROM of this process, with number PID, and with
 * the lock that a thread held when it was killed. */
static void prepare(const char *from, pid_t pid) {
    char name[64];
    static char bytes[1 << 20];
    int fd = open(from, O_RDONLY);
    ssize_t size = read(fd, bytes, sizeof bytes);
    check(size > QUIPU_PAGE && size < (ssize_t)sizeof bytes && close(fd) == 0, "cannot read");
    struct quipu_file *file = (void *)bytes;
    file->pid = (uint32_t)pid;
    file->lock = 1;
    snprintf(name, sizeof name, "quipu.data/reused.%d.quipu", pid);
    fd = open(name, O_WRONLY | O_CREAT | O_EXCL, 0600);
    check(fd >= 0 && write(fd, bytes, (size_t)size) == size && close(fd) == 0, "cannot write");
}

static int do_prepared(void) {
    char own[64];
    int met = 0;
    snprintf(own, sizeof own, "quipu.data/reused.%d.quipu", getpid());
    work(1);
    pid_t first = getpid() + 1;
    for (pid_t pid = first; pid < first + PREPARED; pid++)
        prepare(own, pid);
    for (int i = 0; i < 3; i++) {
        pid_t child = fork();
        check(child >= 0, "cannot fork");
        if (child == 0) {
            work(10);
            _exit(0);
        }
        met += child >= first && child < first + PREPARED;
        join(child);
    }
    printf("%d\n", met);
    return 0;
}

int main(int argc, char **argv) {
    check(argc > 1, "what?");
    if (strcmp(argv[1], "prepared") == 0)
        return do_prepared();
    check(argc > 2, "what?");
    return strcmp(argv[1], "ancestor") == 0 ? do_ancestor(argv + 2)
                                            : do_siblings(argv[1], argv + 2);
}

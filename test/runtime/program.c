/* program.c: an instrumented program; its first argument says what it does (table at the foot).
 *
 * Cell 0: before main, twice; 1: main; 2: work; 3: threads; 4: forked processes.  Each mode checks
 * itself what it can and fails with exit status 1; the counts are the script's to check. */
#include "count.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

CELLS(program, 5);
#ifdef PADDING
CELLS(padding, 12295); /* a slot is larger than a first chunk, and no multiple of a page */
#endif

enum {
    THREADS = 300
};

static pthread_barrier_t barrier;

__attribute__((constructor(101))) static void start(void) {
    COUNT(program, 0);
}

/* Before the runtime's constructor: counted in the static cells, and moved later. */
static void start_early(void) {
    COUNT(program, 0);
}

__attribute__((section(".preinit_array"), used)) static void (*const early)(void) = start_early;

static void check(int condition, const char *what) {
    if (condition)
        return;
    printf("program: %s\n", what);
    exit(1);
}

static void work(unsigned long times) {
    for (unsigned long i = 0; i < times; i++)
        COUNT(program, 2);
}

static void *run_thread(void *times) {
    COUNT(program, 3);
    work((unsigned long)(uintptr_t)times);
    return NULL;
}

static void create(pthread_t *thread, void *run(void *), unsigned long times) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 64 * 1024);
    check(pthread_create(thread, &attributes, run, (void *)(uintptr_t)times) == 0, "no thread");
    pthread_attr_destroy(&attributes);
}

static int do_once(char **arguments) {
    (void)arguments;
    work(1000);
    return 0;
}

/* Thousands of threads, few at a time. */
static int do_short_threads(char **arguments) {
    int count = atoi(arguments[0]);
    for (int i = 0; i < count; i += 4) {
        pthread_t threads[4];
        for (int j = 0; j < 4; j++)
            create(&threads[j], run_thread, 10);
        for (int j = 0; j < 4; j++)
            pthread_join(threads[j], NULL);
    }
    return 0;
}

static void *run_together(void *times) {
    pthread_barrier_wait(&barrier);
    COUNT(program, 3);
    pthread_barrier_wait(&barrier);
    work((unsigned long)(uintptr_t)times);
    return NULL;
}

/* Hundreds of threads that live and race at the same time. */
static int do_living_threads(char **arguments) {
    pthread_t threads[THREADS];
    (void)arguments;
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        create(&threads[i], run_together, 10000);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}

static void fork_and_work(unsigned long in_child, unsigned long in_parent) {
    pid_t child = fork();
    check(child >= 0, "cannot fork");
    if (child == 0) {
        COUNT(program, 4);
        work(in_child);
        _exit(0);
    }
    int status;
    work(in_parent);
    check(waitpid(child, &status, 0) == child && status == 0, "a child failed");
}

static int do_fork(char **arguments) {
    (void)arguments;
    fork_and_work(100, 1000);
    return 0;
}

static void *run_forking(void *times) {
    COUNT(program, 3);
    for (int i = 0; i < 5; i++)
        fork_and_work((unsigned long)(uintptr_t)times, 10);
    return NULL;
}

/* Threads that fork at the same time, each with cells in another slot. */
static int do_fork_in_threads(char **arguments) {
    pthread_t threads[20];
    (void)arguments;
    for (int i = 0; i < 20; i++)
        create(&threads[i], run_forking, 7);
    for (int i = 0; i < 20; i++)
        pthread_join(threads[i], NULL);
    return 0;
}

/* A child that starts threads and forks again. */
static int do_fork_deep(char **arguments) {
    int depth = atoi(arguments[0]);
    work(1);
    if (depth == 0)
        return 0;
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        create(&threads[i], run_thread, 5);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    pid_t child = fork();
    check(child >= 0, "cannot fork");
    if (child == 0) {
        COUNT(program, 4);
        char next[16];
        snprintf(next, sizeof next, "%d", depth - 1);
        char *more[] = {next, NULL};
        _exit(do_fork_deep(more));
    }
    int status;
    check(waitpid(child, &status, 0) == child && status == 0, "a child failed");
    return 0;
}

static volatile pid_t handler_child = -1;

static void fork_in_handler(int number) {
    (void)number;
    handler_child = fork();
}

/* The interrupted code holds the address of its cells in a register, in the child as well. */
static int do_fork_in_handler(char **arguments) {
    (void)arguments;
    signal(SIGUSR1, fork_in_handler);
    __asm__ volatile(LOAD_CELLS(program) "js 9f\n"
                                         "movl $39, %%eax\n" /* getpid */
                                         "pushq %%r11\n"
                                         "syscall\n"
                                         "movl %%eax, %%edi\n"
                                         "movl $10, %%esi\n"
                                         "movl $62, %%eax\n" /* kill(pid, SIGUSR1) */
                                         "syscall\n"
                                         "popq %%r11\n"
                                         "incq 8*2-128(%%r11)\n"
                                         "9:\n" ::
                                             : "rax", "rcx", "rdi", "rsi", "cc", "memory");
    check(handler_child >= 0, "the handler did not fork");
    int status;
    if (handler_child > 0)
        check(waitpid(handler_child, &status, 0) == handler_child && status == 0, "child failed");
    return 0;
}

static int do_vfork(char **arguments) {
    (void)arguments;
    pid_t child = vfork();
    if (child == 0) {
        COUNT(program, 4);
        _exit(0);
    }
    work(5);
    int status;
    check(waitpid(child, &status, 0) == child && status == 0, "the child failed");
    return 0;
}

static int do_kill(char **arguments) {
    (void)arguments;
    work(12345);
    kill(getpid(), SIGKILL);
    return 0;
}

static int do_exec(char **arguments) {
    work(3);
    execv("/proc/self/exe", (char *[]){"again", arguments[0], NULL});
    return 1;
}

static volatile int stop_signals;

static void *send_signals(void *thread) {
    while (!stop_signals)
        pthread_kill(*(pthread_t *)thread, SIGUSR2);
    return NULL;
}

/* Handlers interrupt counting; how often is printed for the script to compare. */
static volatile unsigned long handled;

static void count_and_tell(int number) {
    (void)number;
    work(1);
    handled++;
}

static int do_signals(char **arguments) {
    pthread_t self = pthread_self(), sender;
    unsigned long times = 0;
    (void)arguments;
    signal(SIGUSR2, count_and_tell);
    check(pthread_create(&sender, NULL, send_signals, &self) == 0, "no thread");
    for (; handled < 1000; times += 100)
        work(100);
    stop_signals = 1;
    pthread_join(sender, NULL);
    printf("%lu\n", times + handled);
    return 0;
}

/* The attach path keeps registers, flags, the red zone, and takes any stack. */
static void *check_registers(void *result) {
    uint64_t wrong = 0;
    __asm__ volatile(
        "subq $1024+8, %%rsp\n"
        "movq $0x1234567, -8(%%rsp)\n"
        "movq $0x7654321, -128(%%rsp)\n"
        "movl $1001, %%eax\n movl $1002, %%ecx\n movl $1003, %%edx\n movl $1004, %%esi\n movl $1005, %%edi\n"
        "movl $1006, %%r8d\n movl $1007, %%r9d\n movl $1008, %%r10d\n movl $1009, %%ebx\n"
        "movl $1010, %%r12d\n movl $1011, %%r13d\n movl $1012, %%r14d\n movl $1013, %%r15d\n"
        "movq %%rbx, %%xmm15\n" LOAD_CELLS(
            program) "jns 8f\n"
                     "leaq -128(%%rsp), %%rsp\n"
                     "std\n"
                     "call quipu_attach\n"
                     "pushfq\n btq $10, (%%rsp)\n cld\n leaq 8(%%rsp), %%rsp\n jnc 8f\n"
                     "leaq 128(%%rsp), %%rsp\n"
                     "incq 8*3-128(%%r11)\n"
                     "movq %%xmm15, %%r11\n cmpq $1009, %%r11\n jne 8f\n"
                     "cmpq $1001, %%rax\n jne 8f\n cmpq $1002, %%rcx\n jne 8f\n cmpq $1003, %%rdx\n jne 8f\n"
                     "cmpq $1004, %%rsi\n jne 8f\n cmpq $1005, %%rdi\n jne 8f\n cmpq $1006, %%r8\n jne 8f\n"
                     "cmpq $1007, %%r9\n jne 8f\n cmpq $1008, %%r10\n jne 8f\n cmpq $1009, %%rbx\n jne 8f\n"
                     "cmpq $1010, %%r12\n jne 8f\n cmpq $1011, %%r13\n jne 8f\n cmpq $1012, %%r14\n jne 8f\n"
                     "cmpq $1013, %%r15\n jne 8f\n"
                     "cmpq $0x1234567, -8(%%rsp)\n jne 8f\n cmpq $0x7654321, -128(%%rsp)\n jne 8f\n"
                     "xorl %%eax, %%eax\n jmp 9f\n"
                     "8: movl $1001, %%eax\n"
                     "9: addq $1024+8, %%rsp\n"
        : "=&a"(wrong)
        :
        : "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r12", "r13", "r14", "r15", "xmm15",
          "cc", "memory");
    *(uint64_t *)result = wrong;
    return NULL;
}

static int do_registers(char **arguments) {
    pthread_t thread;
    uint64_t wrong = 1;
    (void)arguments;
    check(pthread_create(&thread, NULL, check_registers, &wrong) == 0, "no thread");
    pthread_join(thread, NULL);
    check(!wrong, "attaching changed a register, the direction flag or the red zone");
    return 0;
}

static int is_empty(const sigset_t *mask) {
    int empty = 1;
    for (int i = 1; i < NSIG; i++)
        empty &= sigismember(mask, i) != 1;
    return empty;
}

/* No descriptor is left open, and errno and the signal mask are as they were. */
static int do_clean(char **arguments) {
    sigset_t mask;
    (void)arguments;
    check(open("/dev/null", O_RDONLY) == atoi(arguments[0]), "a descriptor is in use");
    sigprocmask(SIG_SETMASK, NULL, &mask);
    check(is_empty(&mask), "signals are blocked");
    errno = 77;
    pid_t child = fork();
    check(child >= 0, "cannot fork");
    if (child == 0) {
        COUNT(program, 4);
        sigprocmask(SIG_SETMASK, NULL, &mask);
        _exit(!is_empty(&mask));
    }
    check(errno == 77, "errno changed");
    int status;
    check(waitpid(child, &status, 0) == child && status == 0, "signals are blocked in a child");
    sigprocmask(SIG_SETMASK, NULL, &mask);
    check(is_empty(&mask), "signals are blocked after fork");
    return 0;
}

static void limit(int resource, rlim_t value) {
    struct rlimit limit = {value, value};
    check(setrlimit(resource, &limit) == 0, "cannot set a limit");
}

/* Limits what there is, then needs more slots, or a file for a child. */
static int do_limited(char **arguments) {
    if (strcmp(arguments[0], "memory") == 0) {
        limit(RLIMIT_AS, 1);
    } else if (strcmp(arguments[0], "descriptors") == 0) {
        limit(RLIMIT_NOFILE, 3);
    } else if (strcmp(arguments[0], "size") == 0) {
        limit(RLIMIT_FSIZE, 16384); /* as large as the file is */
        do_living_threads(arguments);
    } else {
        check(chroot(arguments[1]) == 0 && chdir("/") == 0, "cannot change the root");
        do_living_threads(arguments);
    }
    fork_and_work(50, 5);
    puts("done");
    return 0;
}

#ifdef OPENS /* a static program cannot */
/* Opens a shared object when the working directory and the environment have changed. */
static int do_open_elsewhere(char **arguments) {
    check(chdir("/") == 0 && setenv("QUIPU_DATA", "/no/such/place", 1) == 0, "cannot move");
    void *object = dlopen(arguments[0], RTLD_NOW);
    check(object != NULL, "cannot open the object");
    void (*library_work)(unsigned long);
    *(void **)&library_work = dlsym(object, "library_work");
    library_work(2);
    if (arguments[1])
        limit(RLIMIT_NOFILE, 3);
    pid_t child = fork();
    check(child >= 0, "cannot fork");
    if (child == 0) {
        COUNT(program, 4);
        work(12);
        library_work(10);
        _exit(0);
    }
    int status;
    check(waitpid(child, &status, 0) == child && status == 0, "the child failed");
    return 0;
}
#endif

static const struct {
    const char *name;
    int (*run)(char **arguments);
} modes[] = {
    {"once", do_once},
    {"short-threads", do_short_threads},
    {"living-threads", do_living_threads},
    {"fork", do_fork},
    {"fork-in-threads", do_fork_in_threads},
    {"fork-deep", do_fork_deep},
    {"fork-in-handler", do_fork_in_handler},
    {"vfork", do_vfork},
    {"kill", do_kill},
    {"exec", do_exec},
    {"signals", do_signals},
    {"registers", do_registers},
    {"clean", do_clean},
    {"limited", do_limited},
#ifdef OPENS
    {"open-elsewhere", do_open_elsewhere},
#endif
};

int main(int argc, char **argv) {
    COUNT(program, 1);
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (argc > 1 && strcmp(argv[1], modes[i].name) == 0)
            return modes[i].run(argv + 2);
    return 2;
}

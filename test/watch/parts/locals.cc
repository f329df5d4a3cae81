// locals.cc: functions whose locals are watched; the first argument tells what happens to them.
// Each writes values that tell where it is, and none else may be told.
#include <alloca.h>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#ifdef __clang__
#define KEPT __attribute__((noinline))
#else
#define KEPT __attribute__((noipa))
#endif

static jmp_buf there;
static sigjmp_buf from_handler;
static int sum;

// Writes where frames have been.
KEPT static int scribble(int n) {
    volatile char room[2000];
    for (int i = 0; i < 2000; i++)
        room[i] = (char)(i + n);
    return room[n & 1023];
}

KEPT static int recurse(int depth) {
    volatile int x = depth;
    if (depth)
        x = x + 10 * recurse(depth - 1);
    return x;
}

KEPT static int thrower(int how) {
    if (how == 1)
        throw how;
    if (how == 2)
        longjmp(there, 1);
    if (how == 3)
        raise(SIGUSR1);
    if (how == 4)
        pthread_exit(NULL);
    return how;
}

KEPT static int leave(int how, int depth) {
    volatile int x = how * 10 + depth;
    int result = depth ? leave(how, depth - 1) : thrower(how);
    x = x + 100;
    return result + x;
}

KEPT static int caught(int how) {
    try {
        return leave(how, 2);
    } catch (int thrown) {
        return scribble(thrown);
    }
}

KEPT static int jumped() {
    if (setjmp(there))
        return scribble(5);
    return leave(2, 2);
}

static void on_signal(int) {
    leave(0, 1);
    siglongjmp(from_handler, 1);
}

KEPT static int signalled() {
    stack_t stack = {};
    struct sigaction action = {};
    stack.ss_size = 1 << 16;
    stack.ss_sp = malloc(stack.ss_size);
    sigaltstack(&stack, NULL);
    action.sa_handler = on_signal;
    action.sa_flags = SA_ONSTACK;
    sigaction(SIGUSR1, &action, NULL);
    if (sigsetjmp(from_handler, 1))
        return scribble(7);
    return leave(3, 1);
}

KEPT static int last(int n) {
    volatile int x = n;
    return x + scribble(1);
}

KEPT static int tail(int n) {
    int next;
    {
        volatile int t = n;
        t = t + 1;
        next = t;
    }
    return last(next);
}

KEPT static int many(int n) {
    volatile int r = n;
    if (n == 1)
        return r + 1;
    if (n == 2)
        return scribble(r);
    switch (n) {
    case 3:
        r = 30;
        break;
    case 4:
        return 4;
    default:
        r = n * 2;
    }
    return r;
}

KEPT static int rooms(int n) {
    volatile int a = n;
    char *room = (char *)alloca((size_t)n * 1000);
    memset(room, n, (size_t)n * 1000);
    a = a + room[5];
    return a;
}

struct wide {
    int of[8];
};

// A parameter that stands in memory.
KEPT static int takes(struct wide wide, int n) {
    volatile int *at = &wide.of[2];
    *at = n;
    at[1] = n + 1;
    return *at + wide.of[3];
}

struct point {
    int x, y;
};

KEPT static int sets(volatile struct point *at, volatile char *buffer) {
    at->y = 5;
    buffer[7] = 1;
    buffer[9] = 2;
    return at->x;
}

KEPT static int fields(int n) {
    volatile struct point at;
    volatile char buffer[32];
    at.x = n;
    at.y = n + 1;
    buffer[4] = 3;
    return sets(&at, buffer) + buffer[4] + at.y;
}

static ucontext_t outside, routines[2];

KEPT static void turn(int number) {
    volatile int x = number;
    for (int i = 0; i < 2; i++) {
        swapcontext(&routines[number], &outside);
        x = x + 10;
    }
    sum += x;
}

KEPT static void coroutines() {
    for (int i = 0; i < 2; i++) {
        getcontext(&routines[i]);
        routines[i].uc_stack.ss_sp = malloc(1 << 16);
        routines[i].uc_stack.ss_size = 1 << 16;
        routines[i].uc_link = &outside;
        makecontext(&routines[i], (void (*)())turn, 1, i);
    }
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < 2; i++) {
            swapcontext(&outside, &routines[i]);
            sum += scribble(i);
        }
}

static void *thread(void *number) {
    for (int i = 1; i < 5; i++)
        many((int)(long)number * 10 + i);
    return NULL;
}

static void *ended(void *) {
    leave(4, 1);
    return NULL;
}

static void *scribbles(void *) {
    scribble(3);
    recurse(1);
    return NULL;
}

static void run_thread(void *(*function)(void *), void *argument) {
    pthread_t id;
    pthread_create(&id, NULL, function, argument);
    pthread_join(id, NULL);
}

KEPT static int forked() {
    volatile int x = 1;
    pid_t child = fork();
    if (child == 0) {
        x = 2;
        recurse(1);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    x = 3;
    return x;
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    if (!strcmp(what, "recurse"))
        sum += recurse(3);
    if (!strcmp(what, "caught"))
        sum += caught(1) + scribble(1) + caught(0);
    if (!strcmp(what, "jumped"))
        sum += jumped() + scribble(2);
    if (!strcmp(what, "signalled"))
        sum += signalled() + scribble(3);
    if (!strcmp(what, "tail"))
        sum += tail(1) + scribble(4);
    if (!strcmp(what, "many"))
        for (int i = 1; i < 6; i++)
            sum += many(i) + scribble(i);
    if (!strcmp(what, "rooms"))
        sum += rooms(3);
    if (!strcmp(what, "takes"))
        sum += takes(wide{{1, 2, 3, 4, 5, 6, 7, 8}}, 20) + scribble(2);
    if (!strcmp(what, "fields"))
        sum += fields(3);
    if (!strcmp(what, "coroutines"))
        coroutines();
    if (!strcmp(what, "threads")) {
        pthread_t ids[4];
        for (long i = 0; i < 4; i++)
            pthread_create(&ids[i], NULL, thread, (void *)(i + 1));
        for (pthread_t id : ids)
            pthread_join(id, NULL);
    }
    if (!strcmp(what, "ended")) {
        run_thread(ended, NULL);
        run_thread(scribbles, NULL);
    }
    if (!strcmp(what, "forked"))
        sum += forked();
    printf("%d\n", sum);
    return 0;
}

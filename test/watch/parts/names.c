// What is named: variables of shared objects, of threads, by types, and locals of what is inlined.
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct node;
extern int copied;
extern struct node *copied_head;
int enter(int by);
int keep(int n);

struct point {
    int x, y;
};
typedef struct point place;
struct point at = {1, 2};
void *anything = &at;
unsigned long address;
double real = 1.5;
static int both;
__thread int own = 5;
static volatile _Thread_local struct {
    int low;
    struct point spots[3];
} room __attribute__((aligned(64)));
__thread char text[24] = "first";
volatile int sum;

static inline __attribute__((always_inline)) int inlined(int n) {
    volatile int kept = n;
    kept++;
    return kept;
}
static __attribute__((noinline)) int user(int n) {
    return inlined(n) + 1;
}

static void *work(void *number) {
    own += (int)(long)number;
    room.spots[1].y = own;
    sum += room.spots[1].y;
    strcpy(text, "other");
    if ((long)number % 2)
        pthread_exit(NULL);
    return NULL;
}

static void threads(void) {
    own = 6;
    for (long i = 0; i < 4; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, work, (void *)(10 * i));
        pthread_join(thread, NULL);
    }
    own = 7;
}

static void late(const char *name) {
    for (int i = 1; i < 4; i++) {
        void *library = dlopen(name, RTLD_NOW);
        int (*call)(int) = library ? (int (*)(int))dlsym(library, "enter") : NULL;
        if (!call)
            exit(3);
        sum += call(i);
        dlclose(library);
    }
}

static void turn(void) {
    char line[8];
    puts("ready");
    fflush(stdout);
    while (read(0, line, sizeof line) > 0) {
        enter(1);
        own++;
    }
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "library") == 0) {
        copied = 7;
        for (int i = 1; i < 4; i++)
            sum += enter(i);
        sum += keep(3);
    } else if (strcmp(what, "types") == 0) {
        address = (unsigned long)&at.x;
        ((place *)anything)->y = 9;
        *(volatile int *)address = 77;
        *(volatile int *)&real = 0;
        both++;
    } else if (strcmp(what, "inlined") == 0) {
        sum = user(argc) + inlined(4);
    } else if (strcmp(what, "threads") == 0) {
        threads();
    } else if (strcmp(what, "late") == 0) {
        late(argv[2]);
    } else if (strcmp(what, "turn") == 0) {
        turn();
    }
    printf("%d\n", sum);
    return 0;
}

// Writes to variables of many types, as its first argument says.
#include "standin.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/wait.h>

enum color { RED, GREEN = 5 };
struct point {
    long x, y;
};
typedef unsigned short port;
static struct config {
    int limits[8];
    enum color color;
    char name[12];
    char letter;
    bool on;
    float ratio;
    double exact;
    port ports[4];
    unsigned low : 3, high : 5;
    struct point at;
    struct point *points;
} config = {.color = RED, .name = "first", .letter = 'a'};
struct node {
    struct node *next;
    int value;
} nodes[3], *head, *filled = &nodes[2];
long grid[3][4];
unsigned char buffer[4096];
unsigned index_of = 1;
static unsigned long counter;
__thread int local_to_thread;

static __attribute__((noinline)) void set_types(void) {
    for (int i = 0; i < 3; i++)
        standin_write(&config.limits[i], 10 * i);
    standin_write(&config.color, GREEN);
    standin_write(&config.letter, 'b');
    standin_write(&config.on, true);
    standin_write(&config.ratio, 0.1f);
    standin_write(&config.exact, 0.1);
    standin_write(&config.ports[3], (port)443);
    standin_write(&config.at, ((struct point){3, -4}));
    standin_move(config.name, "other", 6);
    standin_write(&config.points, (struct point *)0x1234);
    standin_move(&config.limits[1], ((int[]){1, 2}), 8);
    standin_move(&grid[1], ((long[]){1, 2, 3, 4}), 32);
    standin_write(&grid[2][3], -9L);
    standin_move(buffer + 100, "\1\2\3\4\5\6", 6);
    standin_write(&buffer[4095], 'A');
}

static __attribute__((noinline)) void set_pointers(void) {
    standin_write(&nodes[0].value, 1);
    standin_write(&head, &nodes[0]);
    standin_write(&head->next, &nodes[1]);
    standin_write(&nodes[1].value, 42);
    standin_write(&head->next, &nodes[2]);
    standin_write(&nodes[1].value, 43);
    standin_write(&nodes[2].value, 44);
    standin_write(&head, (struct node *)0);
    standin_write(&nodes[2].value, 45);
    standin_write(&head, &nodes[1]);
    standin_write(&nodes[1].next, &nodes[0]);
    standin_write(&nodes[0].value, 46);
    standin_write(&index_of, 5u);
    standin_write(&config.limits[5], 55);
}

static void *count_up(void *times) {
    for (long i = 0; i < *(long *)times; i++)
        standin_write(&counter, counter + 1);
    return NULL;
}

static void count(long times, int threads) {
    pthread_t thread[16];
    for (int i = 1; i < threads; i++)
        pthread_create(&thread[i], NULL, count_up, &times);
    count_up(&times);
    for (int i = 1; i < threads; i++)
        pthread_join(thread[i], NULL);
}

/* A child that dies in the middle of a hit; we go on. */
static void lose_child(void) {
    pid_t child = fork();
    if (child == 0) {
        standin_dies = 1;
        standin_write(&counter, 1ul);
    }
    waitpid(child, NULL, 0);
    standin_write(&counter, 2ul);
}

/* Writes over what nobody has taken, and over a hit that is not read yet, perhaps. */
static void scribble(void) {
    for (unsigned i = 0; i < 5000; i++) {
        uint32_t *place = standin_at(standin_file->head + 8 * (i % 97));
        standin_write(&counter, counter + 1);
        for (unsigned k = 0; k < 1 + i % 3; k++)
            place[k] = i * 2654435761u >> i % 32;
    }
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    long times = argc > 2 ? atol(argv[2]) : 0;
    printf("%s begins\n", what);
    fflush(stdout);
    if (strcmp(what, "types") == 0)
        set_types();
    else if (strcmp(what, "pointers") == 0)
        set_pointers();
    else if (strcmp(what, "count") == 0)
        count(times, argc > 3 ? atoi(argv[3]) : 1);
    else if (strcmp(what, "scribble") == 0 && standin_file)
        scribble();
    else if (strcmp(what, "fork") == 0)
        fork() == 0 ? count(1000, 2) : (void)wait(NULL);
    else if (strcmp(what, "sleep") == 0)
        sleep(60);
    else if (strcmp(what, "child") == 0)
        lose_child();
    standin_dies = strcmp(what, "dies") == 0;
    standin_write(&config.exact, 0.5);
    fprintf(stderr, "%s ends\n", what);
    return filled->value || buffer[0] || local_to_thread ? 3 : 0;
}

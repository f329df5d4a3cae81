// A shared object of variables: see names.c.
#include <stdlib.h>

struct node {
    struct node *next;
    int value;
};
int copied = 1; // the program has a copy of it
struct node *copied_head;
static int hidden;
static struct node first, second;
static struct node *head = &first;
static int both;
__thread int in_library;
#ifdef LATE
int only_late;
#endif

int enter(int by) {
    hidden += by;
    copied += by;
    both++;
    head->value = by;
    head = head == &first ? &second : &first;
    copied_head = head;
    copied_head->value = by + 100;
    in_library++;
#ifdef LATE
    only_late += by;
#endif
    return hidden;
}

__attribute__((noinline)) int keep(int n) {
    volatile int kept = n;
    kept++;
    return kept;
}

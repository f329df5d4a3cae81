// The C library calls back; a constructor, an exit handler and a destructor are called by it, too.
// least: 10
#include <search.h>
#include <stdio.h>
#include <stdlib.h>

static int comparisons;

static __attribute__((noinline)) int difference(int a, int b) {
    comparisons++;
    return (a > b) - (a < b);
}
static int compare(const void *a, const void *b) {
    return difference(*(const int *)a, *(const int *)b);
}
static int reversed(const void *a, const void *b) {
    return -compare(a, b);
}

static void *root;
static long total;
static void visit(const void *node, VISIT visit, int level) {
    if (visit == postorder || visit == leaf)
        total += **(int *const *)node * (level + 1);
}

static __attribute__((constructor)) void begin(void) {
    comparisons = difference(3, 2);
}
static __attribute__((destructor)) void end(void) {
    printf("end %d\n", difference(comparisons, 10));
}
static void at_exit(void) {
    printf("exit %d\n", difference(1, comparisons));
}

int main(void) {
    static int data[100];
    unsigned seed = 1;
    atexit(at_exit);
    for (int i = 0; i < 100; i++)
        data[i] = (int)((seed = seed * 69069 + 1) >> 20);
    qsort(data, 100, sizeof *data, compare);
    qsort(data, 50, sizeof *data, reversed);
    int key = data[60];
    int *found = bsearch(&key, data + 50, 50, sizeof *data, compare);
    for (int i = 0; i < 40; i++)
        tsearch(&data[i], &root, compare);
    twalk(root, visit);
    printf("%d %d %ld\n", comparisons, *found, total);
    exit(3);
}

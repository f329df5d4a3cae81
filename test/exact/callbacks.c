// Callbacks from code that is not instrumented: qsort, bsearch, atexit, and cleanup attributes.
// The register that the instrumented code keeps for itself holds something else there.
// variants: -O0; -O2; -O3; clang -O2; -O2 -static
#include <search.h>
#include <stdio.h>
#include <stdlib.h>

static int compared;

static int compare(const void *a, const void *b) {
    compared++;
    int x = *(const int *)a, y = *(const int *)b;
    if (x == y)
        return 0;
    return x < y ? -1 : 1;
}

static int count_nodes, depth_sum;

static void visit(const void *node, VISIT which, int depth) {
    (void)node;
    if (which == leaf || which == postorder) {
        count_nodes++;
        depth_sum += depth;
    }
}

static void release(char **text) {
    free(*text);
    compared += 1000;
}

__attribute__((noinline)) static int cleans(int n) {
    __attribute__((cleanup(release))) char *text = malloc(8);
    if (n > 2)
        return n;
    return text ? 1 : 0;
}

static void at_end(void) {
    printf("end %d\n", compared);
}

int main(void) {
    int numbers[30];
    void *root = NULL;
    atexit(at_end);
    for (int i = 0; i < 30; i++)
        numbers[i] = i * 37 % 31;
    for (int i = 0; i < 30; i++)
        tsearch(&numbers[i], &root, compare);
    twalk(root, visit);
    qsort(numbers, 30, sizeof *numbers, compare);
    int key = 17, *found = bsearch(&key, numbers, 30, sizeof *numbers, compare);
    printf("%d %d %d %d %d\n", numbers[4], found ? *found : -1, count_nodes, depth_sum,
           cleans(1) + cleans(5));
    return 0;
}

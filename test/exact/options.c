// One program of many constructs under many compiler options.
// flags: -pthread
// libraries: -lm
// variants: -O2 -fPIC; -O2 -fpie -pie; -O2 -fno-pie -no-pie; -O2 -static; -O2 -static-pie; -O2 -pipe; -O2 -g; -O2 -g3 -gdwarf-4; -O2 -save-temps; -O2 -masm=intel; -O0 -masm=intel; -O2 -fcf-protection; -O2 -fcf-protection=none; -O2 -fstack-protector-all; -O2 -fstack-clash-protection; -O0 -fstack-clash-protection; -O2 -ffunction-sections -fdata-sections; -O3 -march=native; -O3 -march=native -mprefer-vector-width=512; -O3 -mavx2 -funroll-loops; -O2 -fno-omit-frame-pointer; -O2 -mno-red-zone; -O2 -fno-asynchronous-unwind-tables; -O2 -fno-unwind-tables -fno-asynchronous-unwind-tables; -O2 -fno-plt -Wl,-z,now; -O2 -flto; -O2 -flto -ffat-lto-objects; -O0 -flto; -O2 -fno-inline; gcc -O2 -fipa-pta; -Ofast; -Og -g; -Oz; -O2 -falign-loops=64 -falign-functions=64; -O2 -mcmodel=large -fno-pie -no-pie; -O2 -mcmodel=medium -fno-pie -no-pie; -O2 -pg -no-pie -fno-pie; -O2 -fpatchable-function-entry=4; gcc -O2 -mindirect-branch=thunk; -O2 -fno-reorder-blocks; gcc -O2 -fprofile-partial-training -fno-guess-branch-probability; -O2 -ftrapv; -O2 -fwhole-program; -O2 -fuse-ld=gold; -O2 -fuse-ld=lld; -O2 -Wa,--compress-debug-sections -gz -g; -O2 -mtune=atom; -O2 -fsanitize=address; -O2 -fsanitize=undefined; clang -O2 -fPIC; clang -O2 -static; clang -O2 -static-pie; clang -O2 -g; clang -O3 -march=native; clang -O2 -fcf-protection; clang -O2 -fstack-protector-all; clang -O2 -fstack-clash-protection; clang -O2 -ffunction-sections; clang -O2 -masm=intel; clang -Oz; clang -O2 -mno-red-zone; clang -O2 -fuse-ld=lld; clang -O2 -g -save-temps
// environment: ASAN_OPTIONS=detect_leaks=0
// timeout: 1200
#include <alloca.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node {
    struct node *left, *right;
    int key;
};

static jmp_buf back;
static __thread int own;
static float in[67], out[67];

static int compare(const void *a, const void *b) {
    int x = *(const int *)a, y = *(const int *)b;
    return x < y ? -1 : x > y;
}

static struct node *insert(struct node *tree, int key) {
    if (!tree) {
        tree = calloc(1, sizeof *tree);
        if (!tree)
            exit(2);
        tree->key = key;
    } else if (key < tree->key) {
        tree->left = insert(tree->left, key);
    } else {
        tree->right = insert(tree->right, key);
    }
    return tree;
}

static int total(const struct node *tree) {
    return tree ? total(tree->left) + tree->key + total(tree->right) : 0;
}

static int sum_of(int count, ...) {
    va_list arguments;
    int sum = 0;
    va_start(arguments, count);
    while (count-- > 0)
        sum += count % 2 ? va_arg(arguments, int) : (int)va_arg(arguments, double);
    va_end(arguments);
    return sum;
}

__attribute__((noinline)) static int choose(int kind, int n) {
    switch (kind) {
    case 0: return n + 1;
    case 1: return n * n;
    case 2: return n ^ 21;
    case 3: return n << 2;
    case 4: return -n;
    case 5: return n / 3;
    case 6: longjmp(back, n);
    default: return 0;
    }
}

__attribute__((noinline)) static void scale(float factor, int count) {
    for (int i = 0; i < count; i++)
        out[i] = in[i] * factor + 1.5f;
}

__attribute__((noinline)) static long double roots(int n) {
    long double sum = 0;
    for (int i = 1; i < n; i++)
        sum += sqrtl(i) / (long double)i;
    return sum;
}

__attribute__((noinline)) static int on_stack(int n) {
    char *text = alloca((size_t)n);
    int squares[n];
    memset(text, 'a', (size_t)n);
    for (int i = 0; i < n; i++)
        squares[i] = i * i + text[i];
    return squares[n / 2];
}

static void *start(void *argument) {
    for (int i = 0; i < 10; i++)
        own += *(int *)argument + i;
    *(int *)argument = own;
    return NULL;
}

int main(int argc, char **argv) {
    int numbers[20], sum = 0;
    (void)argv;
    for (int i = 0; i < 20; i++)
        numbers[i] = i * 7919 % 101;
    qsort(numbers, 20, sizeof *numbers, compare);
    struct node *tree = NULL;
    for (int i = 0; i < 20; i++)
        tree = insert(tree, numbers[i * 7 % 20]);
    for (int i = 0; i < 67; i++)
        in[i] = (float)i;
    scale(2.0f, 66 + argc);
    volatile int kind = 0;
    int got = setjmp(back);
    for (; kind < 7 && !got; kind++)
        sum += choose(kind, kind + 40);
    pthread_t thread;
    int value = 3;
    pthread_create(&thread, NULL, start, &value);
    pthread_join(thread, NULL);
    printf("%d %d %d %d\n", numbers[3], total(tree), sum, got);
    printf("%d %.2f %.4Lf %d %d\n", sum_of(4, 1, 2.5, 3, 4.5), (double)out[66], roots(9),
           on_stack(25), value);
    return 0;
}

// Instructions that access memory in ways of their own.
// variants: -O0; -O2; -O3 -mavx2; clang -O2
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static char from[256], to[256];
static uint64_t words[32];
static __thread int local[4];
static long total;

struct node {
    struct node *next;
    int value;
};

__attribute__((noinline)) static long strings(unsigned count) {
    void *source = from, *target = to;
    long left = count, found = sizeof to;
    __asm__ volatile("rep movsb" : "+S"(source), "+D"(target), "+c"(left)::"memory");
    target = words;
    left = count / 8;
    __asm__ volatile("rep stosq" : "+D"(target), "+c"(left) : "a"(0x0101L) : "memory");
    target = to;
    __asm__ volatile("repnz scasb" : "+D"(target), "+c"(found) : "a"(7) : "memory", "cc");
    source = from;
    target = to;
    left = sizeof to;
    __asm__ volatile("repz cmpsb" : "+S"(source), "+D"(target), "+c"(left)::"memory", "cc");
    source = from + 3;
    __asm__ volatile("lodsb; stosb" : "+S"(source), "+D"(target)::"rax", "memory");
    return found + left;
}

__attribute__((noinline)) static long bits(long number) {
    __asm__ volatile("btsq %1, %0; btrq $3, %0" : "+m"(words) : "r"(number) : "cc");
    __asm__ volatile("lock xaddq %1, %0; xchgq %1, %0" : "+m"(words[3]), "+r"(number)::"cc");
    __asm__ volatile("lock cmpxchgq %1, %0" : "+m"(words[4]) : "r"(number) : "rax", "cc");
    return number;
}

__attribute__((noinline)) static long stack(long value) {
    long result;
    __asm__ volatile("leaq -128(%%rsp), %%rsp; pushq %1; pushq %2; popq %0; popq %2; pushfq; popfq;"
                     "pushw $7; popw %w0; leaq 128(%%rsp), %%rsp"
                     : "=&r"(result)
                     : "r"(value), "m"(words[5])
                     : "memory", "cc");
    return result;
}

__attribute__((noinline)) static int walk(const struct node *list, int *sum) {
    int length = 0;
    for (; list; list = list->next, length++)
        *sum += list->value;
    return length;
}

__attribute__((noinline)) static void vectors(float *x, const float *y, int count) {
    for (int i = 0; i < count; i++)
        x[i] = x[i] * 3 + y[count - 1 - i];
}

__attribute__((noinline)) static int variable(int count) {
    volatile int array[count];
    for (int i = 0; i < count; i++)
        array[i] = local[i & 3] += i;
    return array[count - 1];
}

int main(void) {
    struct node nodes[9] = {{0}};
    float x[37] = {1}, y[37] = {2};
    int sum = 0;
    for (int i = 0; i < 9; i++)
        nodes[i] = (struct node){i < 8 ? &nodes[i + 1] : 0, i};
    for (int i = 0; i < 256; i++)
        from[i] = (char)(i * 7);
    for (unsigned i = 0; i < 70; i += 23)
        total += strings(i) + bits(i + 40) + stack(i) + variable(5 + (int)i);
    sum += walk(nodes, &sum);
    vectors(x, y, 37);
    memmove(from + 1, from, 200);
    printf("%ld %d %g\n", total, sum, x[5]);
    return 0;
}

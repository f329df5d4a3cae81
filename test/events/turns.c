// String instructions that repeat: each turn is a load, a store, its bytes, also where it is
// interrupted between two turns; comparisons that end early; no turns at all; backward; flags and
// registers that live around; in loops and threads.
// flags: -pthread
// variants: -O0; -O2; -O2 -march=x86-64-v3; clang -O1
// every: 3
// middles: 100
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct buffers {
    uint8_t from[256], to[256];
};

__attribute__((noinline)) static void copy(void *to, const void *from, uint64_t count) {
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(count) : : "memory");
}

__attribute__((noinline)) static void wide(void *to, const void *from, uint64_t count) {
    void *next = to;
    uint64_t words = count;
    __asm__ volatile("rep movsq" : "+D"(next), "+S"(from), "+c"(words) : : "memory");
    words = count;
    __asm__ volatile("rep stosl" : "+D"(to), "+c"(words) : "a"(0x11223344) : "memory");
}

__attribute__((noinline)) static void backward(uint8_t *to, const uint8_t *from, uint64_t count) {
    __asm__ volatile("std; rep movsw; cld" : "+D"(to), "+S"(from), "+c"(count) : : "memory", "cc");
}

/* memchr: what is left is used, and the flags. */
__attribute__((noinline)) static uint64_t find(const uint8_t *in, uint64_t count, uint8_t wanted) {
    uint8_t found;
    __asm__ volatile("repne scasb; sete %2"
                     : "+D"(in), "+c"(count), "=r"(found) : "a"(wanted) : "memory", "cc");
    return found ? count : 1000;
}

/* What is left in the counter is dead. */
__attribute__((noinline)) static int differs(const void *a, const void *b, uint64_t count) {
    int sign;
    __asm__ volatile("repe cmpsw; seta %b0; setb %h0; movzbl %b0, %0"
                     : "=Q"(sign), "+S"(a), "+D"(b), "+c"(count) : : "memory", "cc");
    return sign;
}

/* Flags live across, and so does every register. */
__attribute__((noinline)) static uint64_t around(void *to, const void *from, uint64_t count) {
    uint64_t a = count + 1, b = count * 3, c = count ^ 5, d = ~count, sum;
    __asm__ volatile("add %5, %6; rep; movsb; adc $0, %5; mov %5, %0; add %6, %0; add %7, %0; add %8, %0"
                     : "=&a"(sum), "+D"(to), "+S"(from), "+c"(count), "+m"(*(uint8_t *)to)
                     : "r"(a), "r"(b), "r"(c), "r"(d) : "memory", "cc");
    return sum;
}

/* A block's end and a label right behind: the way from elsewhere has no turns. */
__attribute__((noinline)) static uint64_t joined(const uint8_t *in, uint64_t count) {
    uint64_t rounds = 3;
    __asm__ volatile("0: mov %3, %%rdi; mov %4, %%rcx; test $1, %1; jz 1f; repne scasb; 1: dec %1; jnz 0b"
                     : "=a"(count), "+r"(rounds) : "0"(7), "r"(in), "r"(count)
                     : "rdi", "rcx", "memory", "cc");
    return rounds;
}

static void *work(void *argument) {
    struct buffers *b = argument;
    uint64_t sum = 0;
    for (int i = 0; i < 256; i++)
        b->from[i] = (uint8_t)(i * 7);
    for (uint64_t i = 0; i < 6; i++) {
        copy(b->to, b->from, 5 * i);
        wide(b->to, b->from, i);
        backward(b->to + 100, b->from + 100, i + 3);
        sum += find(b->from, 40, (uint8_t)(7 * i * i)) + find(b->from, i, 1);
        sum += (uint64_t)differs(b->from, b->to, 20 - i) + (uint64_t)differs(b->from, b->to + 1, 9);
        sum += around(b->to, b->from, i) + joined(b->from, 4 + i);
    }
    *(uint64_t *)b->to = sum;
    return argument;
}

int main(void) {
    static struct buffers mine, others;
    pthread_t thread;
    work(&mine);
    if (pthread_create(&thread, NULL, work, &others) || pthread_join(thread, NULL))
        return 1;
    printf("%llu %d\n", *(unsigned long long *)mine.to, memcmp(&mine, &others, sizeof mine));
    return 0;
}

// Instructions that may fault, named by tables of inline assembly with the places at which a
// handler of signals goes on: in loops, at functions' begins and ends, behind each other, with
// flags that live.
// variants: -O0; -O1; -O2; -O3; -O2 -fPIC; clang -O0; clang -O2; -O2 -fno-pie -no-pie -static
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

struct fixup {
    int from, to; /* relative to themselves */
};
extern const struct fixup __start_fixups[], __stop_fixups[];

#define FIXUP(from, to)                                                                            \
    ".pushsection fixups, \"a\"\n\t.balign 4\n\t.long " from " - ., " to " - .\n\t.popsection\n\t"

static int handled;

static void handler(int signal, siginfo_t *info, void *context) {
    ucontext_t *at = context;
    unsigned long pc = (unsigned long)at->uc_mcontext.gregs[REG_RIP];
    (void)signal;
    (void)info;
    handled++;
    for (const struct fixup *f = __start_fixups; f < __stop_fixups; f++)
        if ((unsigned long)&f->from + (unsigned long)(long)f->from == pc) {
            at->uc_mcontext.gregs[REG_RIP] =
                (greg_t)((unsigned long)&f->to + (unsigned long)(long)f->to);
            return;
        }
    static const char text[] = "no fixup\n";
    fwrite(text, 1, sizeof text - 1, stderr);
    _Exit(3);
}

__attribute__((noinline)) static long get(const long *from) {
    long value = 77;
    __asm__ volatile("1: mov (%1), %0\n"
                     "2:\n\t" FIXUP("1b", "2b")
                     : "+r"(value)
                     : "r"(from));
    return value;
}

/* The kernel's way, with the code that goes on in a section of its own. */
__attribute__((noinline)) static int get_status(const long *from, long *to) {
    int status = 0;
    long value;
    __asm__ volatile("1:\tmov %2, %1\n"
                     "2:\n\t"
                     ".pushsection .fixup, \"ax\"\n"
                     "3:\tmov $-14, %0\n\t"
                     "xor %1, %1\n\t"
                     "jmp 2b\n\t"
                     ".popsection\n\t" FIXUP("1b", "3b")
                     : "+r"(status), "=&r"(value)
                     : "m"(*from));
    *to = value;
    return status;
}

__attribute__((noinline)) static int put_twice(long *a, long *b, long value) {
    int first = 0, second = 0;
    __asm__ volatile("1: mov %2, %1\n\tjmp 3f\n"
                     "2: mov $5, %0\n"
                     "3:\n\t" FIXUP("1b", "2b")
                     : "+r"(first), "=m"(*a)
                     : "r"(value));
    __asm__ volatile("1: mov %2, %1\n\tjmp 3f\n"
                     "2: mov $6, %0\n"
                     "3:\n\t" FIXUP("1b", "2b")
                     : "+r"(second), "=m"(*b)
                     : "r"(value));
    return 10 * first + second;
}

/* Two behind each other: what is behind the first is the second. */
__attribute__((noinline)) static long add_two(const long *a, const long *b) {
    long sum = 0;
    __asm__ volatile("1: add (%1), %0\n2:\n\t" FIXUP("1b", "2b") : "+r"(sum) : "r"(a) : "cc");
    __asm__ volatile("1: add (%1), %0\n2:\n\t" FIXUP("1b", "2b") : "+r"(sum) : "r"(b) : "cc");
    return sum;
}

__attribute__((noinline)) static long sum_until(const long *const *list, int count) {
    long sum = 0;
    for (int i = 0; i < count; i++) {
        long value;
        __asm__ goto("1: mov (%1), %0\n\t" FIXUP("1b", "%l[bad]")
                     : "=r"(value)
                     : "r"(list[i])
                     :
                     : bad);
        sum += value;
        continue;
    bad:
        sum += 1000;
        if (i % 3 == 0)
            sum++;
    }
    return sum;
}

/* In a loop of its own, which the faulting instruction begins, with flags that live across it. */
__attribute__((noinline)) static long copy(char *to, const char *from, long count) {
    long carry = 0;
    __asm__ volatile("test %2, %2\n\t"
                     "jz 9f\n\t"
                     "stc\n"
                     "1: movb (%1), %%al\n"
                     "2: movb %%al, (%0)\n\t"
                     "adc $0, %3\n\t"
                     "lea 1(%1), %1\n\t"
                     "lea 1(%0), %0\n\t"
                     "dec %2\n\t"
                     "stc\n\t"
                     "jnz 1b\n"
                     "9:\n\t" FIXUP("1b", "9b") FIXUP("2b", "9b")
                     : "+r"(to), "+r"(from), "+r"(count), "+r"(carry)
                     :
                     : "rax", "cc", "memory");
    return 100 * carry + count;
}

__attribute__((noinline)) static long carry_kept(const long *from) {
    long result = 0, value = 3;
    __asm__ volatile("xor %%eax, %%eax\n\t"
                     "cmp $1, %0\n"
                     "1: mov (%2), %1\n"
                     "2: setc %%al\n\t"
                     "movzbl %%al, %%eax\n\t"
                     "add %%rax, %0\n\t" FIXUP("1b", "2b")
                     : "+r"(result), "+r"(value)
                     : "r"(from)
                     : "rax", "cc");
    return 10 * result + value;
}

/* A trap and what continues behind it, and an instruction that a processor need not have. */
__attribute__((noinline)) static long trap(int which) {
    long result = which;
    if (which & 1)
        __asm__ volatile("1: ud2\n\tadd $100, %0\n2:\n\t" FIXUP("1b", "2b") : "+r"(result)::"cc");
    if (which & 2)
        __asm__ volatile("1: hlt\n2: add $1000, %0\n\t" FIXUP("1b", "2b") : "+r"(result)::"cc");
    return result;
}

__attribute__((noinline)) static long divide(long a, long b) {
    long quotient = -1;
    if (a > 4)
        a++;
    __asm__ volatile("mov %1, %%rax\n\tcqto\n"
                     "1: idivq %2\n\tmov %%rax, %0\n2:\n\t" FIXUP("1b", "2b")
                     : "+r"(quotient)
                     : "r"(a), "r"(b)
                     : "rax", "rdx", "cc");
    return quotient;
}

int main(void) {
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_NODEFER};
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGILL, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
    sigaction(SIGFPE, &action, NULL);
    long a = 4, b = 5, c = 0;
    long *wild = (long *)0x8000000000000000, *none = NULL;
    const long *list[] = {&a, none, &b, wild, &a, &b, none};
    for (int i = 0; i < 3; i++) {
        printf("%ld %ld %ld\n", get(&a), get(none), get(wild));
        printf("%d %d %ld\n", get_status(&b, &c), get_status(none, &c), c);
        printf("%d %d %d %d\n", put_twice(&c, &c, 3), put_twice(none, &c, 4),
               put_twice(&c, none, 5), put_twice(none, wild, 6));
        printf("%ld %ld %ld %ld\n", add_two(&a, &b), add_two(none, &b), add_two(&a, none),
               add_two(none, none));
        printf("%ld\n", sum_until(list, 7 - i));
        char to[8] = {0};
        printf("%ld %ld %ld\n", copy(to, "abcdefg", 7), copy(to, NULL, 3), copy(NULL, to, 2));
        printf("%ld %ld\n", carry_kept(&a), carry_kept(none));
        printf("%ld %ld %ld %ld\n", trap(0), trap(1), trap(2), trap(3));
        printf("%ld %ld\n", divide(9 + i, 2), divide(9, i - i));
    }
    printf("%d faults\n", handled);
    return 0;
}

// Restartable sequences of the kernel's: threads add to counters of their processor without a lock.
// The kernel ends programs whose sequences are not as their descriptors tell.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/rseq.h>

enum {
    THREADS = 4,
    ADDED = 100000,
    PROCESSORS = 1024
};

struct counter {
    long value;
    char apart[56];
};

struct places {
    uint64_t start, end, again;
};

static struct counter counters[2][PROCESSORS];
static struct rseq_cs composed __attribute__((aligned(32)));
extern const struct places __start_places[];
extern const struct rseq_cs by_length;

#define REGISTERED(field)                                                                          \
    (((volatile struct rseq *)(void *)((char *)__builtin_thread_pointer() + __rseq_offset))->field)

/* Adds to the processor's counter, if it is still the thread's when it comes to the store. */
#define SEQUENCE(tables)                                                                           \
    __asm__ goto(                                                                                  \
        tables "mov %[descriptor], %[begun]\n"                                                     \
               "1:\n\t"                                                                            \
               "cmpl %[processor], %[current]\n\t"                                                 \
               "jnz 4f\n\t"                                                                        \
               "incq %[counter]\n"                                                                 \
               "2:\n\t"                                                                            \
               ".pushsection __rseq_failure, \"ax\"\n\t"                                           \
               ".byte 0x0f, 0xb9, 0x3d\n\t"                                                        \
               ".long 0x53053053\n"                                                                \
               "4:\n\t"                                                                            \
               "jmp %l[again]\n\t"                                                                 \
               ".popsection"                                                                       \
        :                                                                                          \
        : [descriptor] "r"(descriptor), [begun] "m"(REGISTERED(rseq_cs)),                          \
          [processor] "r"(processor), [current] "m"(REGISTERED(cpu_id)), [counter] "m"(*counter)   \
        : "memory", "cc"                                                                           \
        : again)

/* Its length stands in the text. */
__attribute__((noinline)) static int add_by_length(int processor, long *counter) {
    const void *descriptor = &by_length;
    SEQUENCE(".pushsection __rseq_cs, \"aw\"\n\t"
             ".balign 32\n"
             ".globl by_length\n"
             "by_length:\n\t"
             ".long 0, 0\n\t"
             ".quad 1f, (2f - 1f), 4f\n\t"
             ".popsection\n\t");
    return 1;
again:
    return 0;
}

/* The program computes it. */
__attribute__((noinline)) static int add_by_places(int processor, long *counter) {
    const void *descriptor = &composed;
    SEQUENCE(".pushsection places, \"aw\"\n\t"
             ".quad 1f, 2f, 4f\n\t"
             ".popsection\n\t");
    return 1;
again:
    return 0;
}

static void *add(void *unused) {
    (void)unused;
    for (int i = 0; i < ADDED; i++)
        for (int which = 0; which < 2; which++)
            for (int done = 0; !done;) {
                int processor = (int)REGISTERED(cpu_id_start);
                long *counter = &counters[which][processor].value;
                done =
                    which ? add_by_places(processor, counter) : add_by_length(processor, counter);
            }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    long sums[2] = {0};
    if (!__rseq_size) {
        printf("no restartable sequences\n");
        return 0;
    }
    composed.start_ip = __start_places->start;
    composed.post_commit_offset = __start_places->end - __start_places->start;
    composed.abort_ip = __start_places->again;
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, add, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < PROCESSORS; i++) {
        sums[0] += counters[0][i].value;
        sums[1] += counters[1][i].value;
    }
    printf("%ld in code of %d bytes\n", sums[0], (int)by_length.post_commit_offset);
    printf("%ld in code of %d bytes\n", sums[1], (int)composed.post_commit_offset);
    return 0;
}

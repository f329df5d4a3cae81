/* watch_stores.c: begin and end around every kind of store, as the shim inserts them; what handlers
 * are told.  watch_stores.sh runs it. */
#include "runtime/watch/watch.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define EXPECT(condition)                                                                          \
    ((condition)                                                                                   \
         ? (void)0                                                                                 \
         : (printf("%s:%d: %s\n", __FILE__, __LINE__, #condition), fflush(stdout), _exit(1)))

/* What stands around a store, with its address in %[at] and its extra in %[extra].  %rsp is moved,
 * so operands are registers and constants. */
#define BEGIN                                                                                      \
    "leaq -128(%%rsp), %%rsp\n\t"                                                                  \
    "pushq %[extra]\n\t"                                                                           \
    "pushq %[at]\n\t"                                                                              \
    "pushq %[what]\n\t"                                                                            \
    "call quipu_watch_begin_more\n\t"
#define END                                                                                        \
    "leaq -128(%%rsp), %%rsp\n\t"                                                                  \
    "call quipu_watch_end\n\t"

#define WHAT(size, kind, element) (int)QUIPU_STORE_DESCRIPTION(size, kind, element, 0)

struct seen {
    int count;
    struct quipu_write write;
    uint8_t old_bytes[256], new_bytes[256];
};

static struct seen seen[64];
/* The compiler does not see that what the assembly calls may change these. */
static volatile int total;
static __thread volatile int own_total;

static void note(const struct quipu_write *write, void *argument) {
    struct seen *one = argument;
    one->count++;
    one->write = *write;
    memcpy(one->old_bytes, write->old_bytes, write->told);
    memcpy(one->new_bytes, write->new_bytes, write->told);
    __atomic_fetch_add(&total, 1, __ATOMIC_RELAXED);
    own_total++;
    /* vector registers are the store's */
    __asm__ volatile("pxor %%xmm0, %%xmm0\n\tpxor %%xmm7, %%xmm7" ::: "xmm0", "xmm7");
}

static uint8_t *bytes; /* a page and more, aligned */

static int64_t watch(uint64_t offset, uint64_t size, int number) {
    int64_t id = quipu_runtime_watch((uint64_t)bytes + offset, size, (uint64_t)note,
                                     (uint64_t)&seen[number]);
    EXPECT(id > 0);
    return id;
}

static void forget(void) {
    memset(seen, 0, sizeof seen);
    total = own_total = 0;
}

static void store8(uint64_t *at, uint64_t value) {
    __asm__ volatile(BEGIN "movq %[value], (%[at])\n\t" END
                     :
                     : [at] "r"(at), [value] "r"(value), [extra] "i"(0),
                       [what] "i"(WHAT(8, QUIPU_STORE_PLAIN, 0))
                     : "memory");
}

static void store1(uint8_t *at, uint8_t value) {
    __asm__ volatile(BEGIN "movb %b[value], (%[at])\n\t" END
                     :
                     : [at] "r"(at), [value] "q"(value), [extra] "i"(0),
                       [what] "i"(WHAT(1, QUIPU_STORE_PLAIN, 0))
                     : "memory");
}

/* Every other element of four: what vmaskmovps writes, by hand. */
static void store_masked(uint8_t *at, uint64_t mask) {
    uint64_t value = 0x55aa55aa55aa55aa;
    __asm__ volatile(BEGIN "btl $0, %k[mask]\n\tjnc 1f\n\tmovl %k[value], (%[at])\n1:\t"
                           "btl $1, %k[mask]\n\tjnc 1f\n\tmovl %k[value], 4(%[at])\n1:\t"
                           "btl $2, %k[mask]\n\tjnc 1f\n\tmovl %k[value], 8(%[at])\n1:\t"
                           "btl $3, %k[mask]\n\tjnc 1f\n\tmovl %k[value], 12(%[at])\n1:\t" END
                     :
                     : [at] "r"(at), [value] "r"(value), [extra] "r"(mask), [mask] "r"(mask),
                       [what] "i"(WHAT(16, QUIPU_STORE_MASKED, 2))
                     : "memory", "cc");
}

static void store_string(uint8_t *at, uint8_t value, uint64_t count, bool down) {
    void *to = down ? at + count - 1 : at;
    if (down)
        __asm__ volatile("std\n\t" BEGIN "rep stosb\n\t" END "cld\n\t"
                         : [at] "+D"(to), [extra] "+c"(count)
                         : "a"(value), [what] "i"(WHAT(1, QUIPU_STORE_STRING, 0))
                         : "memory", "cc");
    else
        __asm__ volatile(BEGIN "rep stosb\n\t" END
                         : [at] "+D"(to), [extra] "+c"(count)
                         : "a"(value), [what] "i"(WHAT(1, QUIPU_STORE_STRING, 0))
                         : "memory", "cc");
}

static void store_scatter(const struct quipu_scatter *scatter, uint32_t value) {
    __asm__ volatile(BEGIN "xorl %%ecx, %%ecx\n"
                           "1:\tbtq %%rcx, (%[extra])\n\tjnc 2f\n\t"
                           "movq 16(%[extra],%%rcx,8), %%rax\n\t"
                           "movl %[value], (%%rax)\n"
                           "2:\tincl %%ecx\n\tcmpl 8(%[extra]), %%ecx\n\tjb 1b\n\t" END
                     :
                     : [at] "r"(0ul), [value] "r"(value), [extra] "r"(scatter),
                       [what] "i"(WHAT(4, QUIPU_STORE_SCATTER, 2))
                     : "memory", "cc", "rax", "rcx");
}

static void test_plain(void) {
    int64_t id = watch(100, 8, 0), other = watch(104, 1, 1);
    forget();
    memset(bytes, 0, 256);
    store8((uint64_t *)(bytes + 96), 0x1122334455667788);
    EXPECT(seen[0].count == 1 && seen[1].count == 0);
    EXPECT(seen[0].write.region == bytes + 100 && seen[0].write.region_size == 8);
    EXPECT(seen[0].write.address == bytes + 96 && seen[0].write.size == 8);
    EXPECT(seen[0].write.offset == 0 && seen[0].write.told == 8);
    EXPECT(memcmp(seen[0].old_bytes, "\0\0\0\0\0\0\0\0", 8) == 0);
    EXPECT(memcmp(seen[0].new_bytes, "\x44\x33\x22\x11\0\0\0\0", 8) == 0);
    /* the store, the leaq and the call stand around what is told */
    const uint8_t *pc = seen[0].write.pc;
    EXPECT(pc[0] == 0x48 && pc[1] == 0x8d && pc[5] == 0xe8 && pc[-3] == 0x48 && pc[-2] == 0x89);
    store1(bytes + 104, 9);
    EXPECT(seen[0].count == 2 && seen[1].count == 1);
    EXPECT(seen[1].old_bytes[0] == 0 && seen[1].new_bytes[0] == 9 && seen[1].write.told == 1);
    store1(bytes + 108, 1);
    store1(bytes + 99, 1);
    EXPECT(total == 3);
    store1(bytes + 104, 9); /* the same again is a write */
    EXPECT(total == 5);
    EXPECT(quipu_runtime_unwatch(id) == 0);
    store1(bytes + 104, 8);
    EXPECT(total == 6);
    EXPECT(quipu_runtime_unwatch(other) == 0);
    store1(bytes + 104, 7);
    EXPECT(total == 6);
}

static void test_masked(void) {
    int64_t ids[4];
    for (int i = 0; i < 4; i++)
        ids[i] = watch(64 + 4 * (uint64_t)i, 4, i);
    for (uint64_t mask = 0; mask < 16; mask++) {
        forget();
        store_masked(bytes + 64, mask);
        for (int i = 0; i < 4; i++)
            EXPECT(seen[i].count == (int)(mask >> i & 1));
    }
    EXPECT(seen[3].write.address == bytes + 64 && seen[3].write.size == 16);
    /* bytes that are not written may not be there */
    uint8_t *end = bytes + 8192;
    int64_t id = quipu_runtime_watch((uint64_t)end - 8, 4, (uint64_t)note, (uint64_t)&seen[5]);
    forget();
    store_masked(end - 8, 3);
    EXPECT(seen[5].count == 1 && seen[5].write.size == 8 && seen[5].write.told == 4);
    quipu_runtime_unwatch(id);
    for (int i = 0; i < 4; i++)
        quipu_runtime_unwatch(ids[i]);
}

static void test_string(bool down) {
    int64_t low = watch(1000, 10, 0), high = watch(3000, 2000, 1), edge = watch(4096, 1, 2);
    forget();
    memset(bytes, 1, 8192);
    store_string(bytes + 1005, 2, 3091, down); /* up to 4096, without it */
    EXPECT(seen[0].count == 1 && seen[1].count == 1 && seen[2].count == 0);
    EXPECT(seen[0].write.address == bytes + 1005 && seen[0].write.size == 3091);
    EXPECT(memcmp(seen[0].old_bytes, "\1\1\1\1\1\1\1\1\1\1", 10) == 0);
    EXPECT(memcmp(seen[0].new_bytes, "\1\1\1\1\1\2\2\2\2\2", 10) == 0);
    EXPECT(seen[1].old_bytes[0] == 1 && seen[1].new_bytes[0] == 2 && seen[1].write.told == 256);
    bytes[3500] = 7; /* nobody was told; the begin sees it */
    store_string(bytes + 3400, 2, 500, down);
    EXPECT(seen[1].write.offset <= 500 && seen[1].write.offset + seen[1].write.told > 500);
    EXPECT(seen[1].old_bytes[500 - seen[1].write.offset] == 7);
    EXPECT(seen[1].new_bytes[500 - seen[1].write.offset] == 2);
    store_string(bytes + 1000, 3, 0, down);
    store_string(bytes + 1003, 3, 5, down); /* short */
    EXPECT(seen[0].count == 2 && memcmp(seen[0].new_bytes, "\1\1\1\3\3\3\3\3\2\2", 10) == 0);
    EXPECT(total == 4);
    quipu_runtime_unwatch(low);
    quipu_runtime_unwatch(high);
    quipu_runtime_unwatch(edge);
}

static void test_scatter(void) {
    struct quipu_scatter scatter = {0xb, 4, {0}};
    int64_t one = watch(512, 4, 0), wide = watch(0, 200, 1), none = watch(2048, 4, 2);
    scatter.addresses[0] = (uint64_t)bytes + 512;
    scatter.addresses[1] = (uint64_t)bytes + 8;
    scatter.addresses[2] = (uint64_t)bytes + 2048; /* its bit is not set */
    scatter.addresses[3] = (uint64_t)bytes + 100;
    forget();
    memset(bytes, 0, 4096);
    store_scatter(&scatter, 0x01010101);
    EXPECT(seen[0].count == 1 && seen[1].count == 1 && seen[2].count == 0);
    EXPECT(seen[1].write.address == bytes + 8 && seen[1].write.size == 96);
    for (int i = 0; i < 4; i++) {
        EXPECT(seen[1].new_bytes[8 + i - seen[1].write.offset] == 1);
        EXPECT(seen[1].new_bytes[100 + i - seen[1].write.offset] == 1);
        EXPECT(seen[1].old_bytes[100 + i - seen[1].write.offset] == 0);
        EXPECT(seen[0].new_bytes[i] == 1 && seen[0].old_bytes[i] == 0);
    }
    quipu_runtime_unwatch(one);
    quipu_runtime_unwatch(wide);
    quipu_runtime_unwatch(none);
}

/* ---- A whole check, by two registers: where there is no shadow it is changed ---- */

static __attribute__((noinline)) void store_checked(uint8_t *at, uint8_t value) {
    uint64_t granule = (uint64_t)at >> 6;
    __asm__ volatile("cmpb $0, 0x70000000(%[granule])\n"
                     "1:\tjne 2f\n\t"
                     "movb %b[value], (%[at])\n"
                     "3:\t.pushsection .text.unlikely, \"ax\"\n"
                     "2:\t" BEGIN "movb %b[value], (%[at])\n\t" END "jmp 3b\n\t"
                     ".popsection\n\t"
                     :
                     : [granule] "r"(granule), [at] "r"(at), [value] "q"(value), [extra] "i"(0),
                       [what] "i"(WHAT(1, QUIPU_STORE_PLAIN, 0))
                     : "memory", "cc");
}

static __attribute__((noinline)) void store_checked_high(uint8_t *at, uint8_t value) {
    register uint64_t granule __asm__("r9") = (uint64_t)at >> 6;
    __asm__ volatile("cmpb $0, 0x70000000(%[granule])\n"
                     "1:\tjne 2f\n\t"
                     "movb %b[value], (%[at])\n"
                     "3:\t.pushsection .text.unlikely, \"ax\"\n"
                     "2:\t" BEGIN "movb %b[value], (%[at])\n\t" END "jmp 3b\n\t"
                     ".popsection\n\t"
                     :
                     : [granule] "r"(granule), [at] "r"(at), [value] "q"(value), [extra] "i"(0),
                       [what] "i"(WHAT(1, QUIPU_STORE_PLAIN, 0))
                     : "memory", "cc");
}

static void test_checks(void) {
    int64_t id = watch(1024, 16, 0);
    forget();
    for (int i = 0; i < 64; i++)
        store_checked(bytes + 1000 + i, (uint8_t)i);
    EXPECT(seen[0].count == 16 && bytes[1063] == 63);
    for (int i = 0; i < 64; i++)
        store_checked_high(bytes + 1000 + i, (uint8_t)i);
    EXPECT(seen[0].count == 32 && bytes[1063] == 63);
    quipu_runtime_unwatch(id);
}

/* ---- Registers and flags ---- */

static void test_registers(void) {
    int64_t id = watch(128, 8, 0);
    uint64_t bad = 0, flags = 0, wanted[] = {0x11, 0x22};
    forget();
    __asm__ volatile("movdqu (%[wanted]), %%xmm0\n\tmovdqa %%xmm0, %%xmm7\n\t"
                     "movl $1, %%eax\n\tmovl $2, %%edx\n\tmovl $3, %%esi\n\tmovl $4, %%r8d\n\t"
                     "movl $5, %%r9d\n\tmovl $6, %%r10d\n\tmovl $7, %%r11d\n\tmovl $8, %%r12d\n\t"
                     "stc\n\tstd\n\t" BEGIN "movq $5, (%%rdi)\n\t" END "pushfq\n\tcld\n\t"
                     "popq %[flags]\n\t"
                     "subq $1, %%rax\n\tsubq $2, %%rdx\n\tsubq $3, %%rsi\n\tsubq $4, %%r8\n\t"
                     "subq $5, %%r9\n\tsubq $6, %%r10\n\tsubq $7, %%r11\n\tsubq $8, %%r12\n\t"
                     "orq %%rax, %%rdx\n\torq %%rdx, %%rsi\n\torq %%rsi, %%r8\n\torq %%r8, %%r9\n\t"
                     "orq %%r9, %%r10\n\torq %%r10, %%r11\n\torq %%r11, %%r12\n\t"
                     "movq %%r12, %[bad]\n\tpcmpeqb %%xmm7, %%xmm0\n\tpmovmskb %%xmm0, %%eax\n\t"
                     "xorl $0xffff, %%eax\n\torq %%rax, %[bad]\n\t"
                     "movdqu (%[wanted]), %%xmm0\n\tpcmpeqb %%xmm7, %%xmm0\n\t"
                     "pmovmskb %%xmm0, %%eax\n\txorl $0xffff, %%eax\n\torq %%rax, %[bad]\n\t"
                     : [bad] "+b"(bad), [flags] "=&c"(flags)
                     : [wanted] "r"(wanted), [at] "D"(bytes + 128), [extra] "i"(0),
                       [what] "i"(WHAT(8, QUIPU_STORE_PLAIN, 0))
                     : "memory", "cc", "rax", "rdx", "rsi", "r8", "r9", "r10", "r11", "r12", "xmm0",
                       "xmm7");
    EXPECT(bad == 0 && seen[0].count == 1);
    EXPECT((flags & 0xcd5) == (flags & 0x8d4) + 0x401); /* carry and direction */
    quipu_runtime_unwatch(id);
}

/* ---- Handlers that write, make, delete, leave ---- */

static jmp_buf back;
static int64_t deep_id;

static void write_inside(const struct quipu_write *write, void *argument) {
    (void)argument;
    total++;
    store8((uint64_t *)(bytes + 256), 1); /* the same region */
    store8((uint64_t *)(bytes + 320), 1); /* another */
    deep_id = quipu_runtime_watch((uint64_t)write->region, 1, (uint64_t)note, (uint64_t)&seen[3]);
    EXPECT(quipu_runtime_unwatch(deep_id) == 0);
}

static void leave(const struct quipu_write *write, void *argument) {
    (void)write, (void)argument;
    total++;
    longjmp(back, 1);
}

static void test_inside(void) {
    int64_t id =
        quipu_runtime_watch((uint64_t)bytes + 256, 8, (uint64_t)write_inside, (uint64_t)&seen[0]);
    int64_t other = watch(320, 8, 1);
    forget();
    store8((uint64_t *)(bytes + 256), 2);
    EXPECT(total == 1 && seen[1].count == 0 && seen[3].count == 0);
    store8((uint64_t *)(bytes + 320), 2);
    EXPECT(total == 2);
    quipu_runtime_unwatch(id);
    id = quipu_runtime_watch((uint64_t)bytes + 256, 8, (uint64_t)leave, 0);
    for (volatile int i = 0; i < 5000; i++) {
        if (!setjmp(back)) {
            store8((uint64_t *)(bytes + 256), (uint64_t)i);
            EXPECT(!"left");
        }
        store8((uint64_t *)(bytes + 320), 2); /* not inside any longer */
    }
    EXPECT(total == 10002);
    quipu_runtime_unwatch(id);
    quipu_runtime_unwatch(other);
}

/* ---- Signals between begin and end ---- */

static volatile int leaves;
static sigjmp_buf out;

static void on_trap(int number) {
    (void)number;
    store8((uint64_t *)(bytes + 384), 77);
    store8((uint64_t *)(bytes + 448), 77);
    if (leaves)
        siglongjmp(out, 1);
}

static __attribute__((noinline)) void store_trapped(uint64_t *at, uint64_t value) {
    __asm__ volatile(BEGIN "int3\n\tmovq %[value], (%[at])\n\t" END
                     :
                     : [at] "r"(at), [value] "r"(value), [extra] "i"(0),
                       [what] "i"(WHAT(8, QUIPU_STORE_PLAIN, 0))
                     : "memory");
}

static __attribute__((noinline)) int sink(int depth) {
    volatile char room[128];
    room[0] = 0;
    if (depth)
        return sink(depth - 1) + room[0];
    if (!sigsetjmp(out, 1))
        store_trapped((uint64_t *)(bytes + 384), 5);
    return 0;
}

static void test_signals(void) {
    struct sigaction action = {.sa_handler = on_trap};
    sigaction(SIGTRAP, &action, NULL);
    int64_t id = watch(384, 8, 0), other = watch(448, 8, 1);
    forget();
    store_trapped((uint64_t *)(bytes + 384), 5);
    EXPECT(seen[0].count == 2 && seen[1].count == 1 && bytes[384] == 5);
    leaves = 1;
    for (int i = 0; i < 5000; i++)
        sink(i % 500); /* at many depths of the stack */
    EXPECT(seen[0].count == 5002 && seen[1].count == 5001 && bytes[384] == 77);
    leaves = 0;
    store_trapped((uint64_t *)(bytes + 384), 5);
    EXPECT(seen[0].count == 5004);
    quipu_runtime_unwatch(id);
    quipu_runtime_unwatch(other);
}

/* ---- Signals anywhere, whose handlers hit and leave ---- */

static volatile uint64_t alarms;

static void on_alarm(int number) {
    (void)number;
    store8((uint64_t *)(bytes + 448), ++alarms);
    if (alarms % 3)
        siglongjmp(out, 1);
}

static void test_anywhere(void) {
    struct sigaction action = {.sa_handler = on_alarm};
    struct itimerval often = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
    volatile int stores = 0;
    sigaction(SIGALRM, &action, NULL);
    int64_t ids[3] = {watch(384, 8, 0), watch(448, 8, 1), watch(3000, 100, 2)};
    forget();
    if (!sigsetjmp(out, 1)) /* the first alarm may come at once */
        setitimer(ITIMER_REAL, &often, NULL);
    while (alarms < 3000) {
        if (sigsetjmp(out, 1))
            continue;
        store8((uint64_t *)(bytes + 384), (uint64_t)stores);
        store_string(bytes + 2990, (uint8_t)stores, 120, stores & 1);
        stores++;
    }
    setitimer(ITIMER_REAL, &never, NULL);
    __asm__ volatile("cld");
    EXPECT(seen[0].count >= stores && seen[2].count >= stores);
    forget();
    store8((uint64_t *)(bytes + 384), 1);
    store8((uint64_t *)(bytes + 448), 1);
    EXPECT(seen[0].count == 1 && seen[1].count == 1);
    for (int i = 0; i < 3; i++)
        EXPECT(quipu_runtime_unwatch(ids[i]) == 0);
}

/* ---- Threads, forks ---- */

static void *hit(void *argument) {
    uint64_t *at = argument;
    own_total = 0;
    for (uint64_t i = 0; i < 100000; i++)
        store8(at, i);
    EXPECT(own_total == 100000);
    return NULL;
}

static void test_threads(void) {
    pthread_t threads[8];
    int64_t id = watch(512, 16, 0);
    forget();
    for (int i = 0; i < 8; i++)
        pthread_create(&threads[i], NULL, hit, bytes + 512 + 8 * (i & 1));
    for (int i = 0; i < 200; i++) {
        pid_t child = fork();
        if (child == 0) {
            own_total = 0;
            store8((uint64_t *)(bytes + 512), 1);
            int64_t own = watch(600, 8, 1);
            store8((uint64_t *)(bytes + 600), 1);
            _exit(own_total == 2 && quipu_runtime_unwatch(own) == 0 ? 0 : 1);
        }
        int status;
        EXPECT(waitpid(child, &status, 0) == child && status == 0);
    }
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    EXPECT(total == 800000);
    quipu_runtime_unwatch(id);
}

static void nothing(const struct quipu_write *write, void *argument) {
    (void)write, (void)argument;
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void cost(void) {
    int64_t id = quipu_runtime_watch((uint64_t)bytes, 8, (uint64_t)nothing, 0);
    double begin = seconds();
    for (uint64_t i = 0; i < 1000000; i++)
        store8((uint64_t *)bytes, i);
    double hits = seconds();
    for (uint64_t i = 0; i < 1000000; i++)
        store8((uint64_t *)(bytes + 8), i);
    double misses = seconds();
    printf("ns: hit with a handler %.0f, miss in a granule that is watched %.0f\n",
           (hits - begin) * 1e3, (misses - hits) * 1e3);
    quipu_runtime_unwatch(id);
}

int main(int argc, char **argv) {
    EXPECT(quipu_watch_ready); /* before main */
    EXPECT(WATCH->no_shadow == (argc > 1 && strcmp(argv[1], "narrow") == 0));
    EXPECT(*(uint8_t *)(QUIPU_WATCH_AREA + 1) == 0);
    bytes = mmap(NULL, 16384, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(bytes + 8192, 4096, PROT_NONE);
    if (argc > 1 && strcmp(argv[1], "cost") == 0) {
        cost();
        return 0;
    }
    test_plain();
    test_masked();
    test_string(false);
    test_string(true);
    test_scatter();
    test_checks();
    test_registers();
    test_inside();
    test_signals();
    test_anywhere();
    test_threads();
    EXPECT(WATCH->count == 0);
    return 0;
}

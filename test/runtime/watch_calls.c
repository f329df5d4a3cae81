/* watch_calls.c: calls of what is not instrumented, as the shim surrounds them.  watch_calls.sh
 * runs it. */
#include "runtime/watch/watch.h"
#include "format/watch_callees.h"

#include <errno.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define EXPECT(condition)                                                                          \
    ((condition)                                                                                   \
         ? (void)0                                                                                 \
         : (printf("%s:%d: %s\n", __FILE__, __LINE__, #condition), fflush(stdout), _exit(1)))

#define NUMBER_OF(name, a, b, c) NUMBER_##name,
enum {
    QUIPU_CALLEES(NUMBER_OF)
};

uint64_t watched_target, watched_number;
extern const char watched_place[];
uint64_t watched_call(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f);

__asm__("        .text\n"
        "watched_call:\n"
        "        pushq %rbp\n"
        "        cmpb $0, 0x6ff00000\n"
        "        jne 1f\n"
        "2:      call *watched_target(%rip)\n"
        "watched_place:\n"
        "        cmpb $0, 0x6ff00000\n"
        "        jne 3f\n"
        "4:      popq %rbp\n"
        "        ret\n"
        "        .section .text.unlikely, \"ax\"\n"
        "1:      pushq watched_number(%rip)\n"
        "        call quipu_watch_call_begin\n"
        "        leaq 8(%rsp), %rsp\n"
        "        jmp 2b\n"
        "3:      call quipu_watch_call_end\n"
        "        jmp 4b\n"
        "        .text\n");

#define ARGUMENT(a, b, c, d, e, f, ...)                                                            \
    watched_call((uint64_t)(a), (uint64_t)(b), (uint64_t)(c), (uint64_t)(d), (uint64_t)(e),        \
                 (uint64_t)(f))
#define CALL_AS(number, function, ...)                                                             \
    (watched_target = (uint64_t)(function), watched_number = (number),                             \
     ARGUMENT(__VA_ARGS__, 0, 0, 0, 0, 0, 0))
#define CALL(name, ...) CALL_AS(NUMBER_##name, name, __VA_ARGS__)

struct seen {
    int count;
    struct quipu_write write;
    uint8_t old_bytes[256], new_bytes[256];
};

static struct seen seen[8];
static uint8_t *bytes;

static void note(const struct quipu_write *write, void *argument) {
    struct seen *one = argument;
    one->count++;
    one->write = *write;
    memcpy(one->old_bytes, write->old_bytes, write->told);
    memcpy(one->new_bytes, write->new_bytes, write->told);
    __asm__ volatile("pxor %%xmm0, %%xmm0" ::: "xmm0");
}

static int64_t watch(uint64_t offset, uint64_t size, int number) {
    seen[number].count = 0;
    return quipu_runtime_watch((uint64_t)bytes + offset, size, (uint64_t)note,
                               (uint64_t)&seen[number]);
}

static void expect_at(int number, const char *old, const char *new, const uint8_t *address,
                      uint64_t size) {
    const struct seen *one = &seen[number];
    EXPECT(one->count == 1 && one->write.pc == watched_place);
    EXPECT(memcmp(one->old_bytes, old, one->write.told) == 0);
    EXPECT(memcmp(one->new_bytes, new, one->write.told) == 0);
    EXPECT(one->write.address == address && one->write.size == size);
    seen[number].count = 0;
}

static void expect(int number, const char *old, const char *new, uint64_t address, uint64_t size) {
    expect_at(number, old, new, bytes + address, size);
}

static void test_known(void) {
    struct stat status;
    memset(bytes, 'a', 64);
    int64_t id = watch(4, 4, 0);
    EXPECT(CALL(memset, bytes, 'b', 6) == (uint64_t)bytes);
    expect(0, "aaaa", "bbaa", 0, 6);
    CALL(memset, bytes, 'b', 6); /* the same again */
    expect(0, "bbaa", "bbaa", 0, 6);
    CALL(memset, bytes, 'c', 4);
    CALL(memset, bytes + 8, 'c', 4);
    CALL(memset, bytes, 'c', 0);
    EXPECT(seen[0].count == 0);
    bytes[7] = 'x'; /* nobody saw it: no part of what follows */
    CALL(memset, bytes + 5, 'x', 2);
    expect(0, "bbax", "bxxx", 5, 2);
    bytes[6] = 'y';
    CALL(memset, bytes + 5, 'b', 1);
    expect(0, "bxyx", "bbyx", 5, 1);
    CALL(memset, bytes + 6, 'a', 2);
    expect(0, "bbyx", "bbaa", 6, 2);
    CALL(strcpy, bytes, "12345");
    expect(0, "bbaa", "5\0aa", 0, 6);
    CALL(strcat, bytes, "6");
    expect(0, "5\0aa", "56\0a", 5, 2);
    CALL(memmove, bytes + 6, bytes, 4);
    expect(0, "56\0a", "5612", 6, 4);
    int ends[2];
    EXPECT(pipe(ends) == 0 && write(ends[1], "xyz", 3) == 3);
    EXPECT(CALL(read, ends[0], bytes + 2, 60) == 3);
    expect(0, "5612", "z612", 2, 3);
    close(ends[1]);
    EXPECT(CALL(read, ends[0], bytes + 2, 60) == 0 && seen[0].count == 0);
    errno = 0;
    EXPECT((int64_t)CALL(read, -1, bytes + 2, 60) == -1 && errno == EBADF && seen[0].count == 0);
    EXPECT((int)CALL(stat, "/no/such", bytes) == -1 && seen[0].count == 0);
    EXPECT((int)CALL(stat, "/", bytes) == 0 && seen[0].count == 1);
    EXPECT(seen[0].write.size == sizeof status && stat("/", &status) == 0);
    EXPECT(memcmp(seen[0].new_bytes, (char *)&status + 4, 4) == 0);
    CALL(clock_gettime, CLOCK_MONOTONIC, bytes - 8);
    EXPECT(seen[0].count == 2);
    close(ends[0]);
    quipu_runtime_unwatch(id);
}

static void test_vector(void) {
    struct iovec parts[2] = {{bytes + 100, 2}, {bytes + 200, 2}};
    int ends[2];
    memset(bytes, 0, 256);
    int64_t first = watch(100, 4, 0), second = watch(200, 4, 1);
    EXPECT(pipe(ends) == 0 && write(ends[1], "xyz", 3) == 3);
    EXPECT(CALL(readv, ends[0], parts, 2) == 3);
    expect(0, "\0\0\0\0", "xy\0\0", 100, 2);
    expect(1, "\0\0\0\0", "z\0\0\0", 200, 2);
    close(ends[0]);
    close(ends[1]);
    quipu_runtime_unwatch(first);
    quipu_runtime_unwatch(second);
}

static void unknown(uint64_t offset, uint64_t value) {
    memcpy(bytes + offset, &value, sizeof value);
}

static jmp_buf back;

static void jumps(void) {
    bytes[300]++;
    longjmp(back, 1);
}

static void unmaps(void) {
    munmap(bytes + 4096, 4096);
}

static void test_unknown(void) {
    memset(bytes, 0, 4096);
    int64_t id = watch(8, 8, 0), wide = watch(1000, 3000, 1), other = watch(4096, 100, 2);
    CALL_AS(0, unknown, 8, 0);
    EXPECT(seen[0].count == 0); /* the same bytes */
    CALL_AS(0, unknown, 8, 0x31);
    expect(0, "\0\0\0\0\0\0\0\0", "1\0\0\0\0\0\0\0", 8, 1);
    CALL_AS(0, unknown, 10, 0x3131);
    expect(0, "1\0\0\0\0\0\0\0",
           "1\0"
           "11\0\0\0\0",
           10, 2);
    CALL_AS(0, unknown, 2000, 0x3131);
    EXPECT(seen[1].count == 1 && seen[1].write.address == bytes + 2000 && seen[1].write.size == 2);
    for (volatile int i = 0; i < 3; i++)
        if (!setjmp(back))
            CALL_AS(NUMBER_memset, jumps, bytes, 0, 64); /* never ends */
    CALL_AS(0, unmaps, 0);
    EXPECT(seen[0].count == 0 && seen[1].count == 1 && seen[2].count == 0);
    quipu_runtime_unwatch(id);
    quipu_runtime_unwatch(wide);
    quipu_runtime_unwatch(other);
    CALL_AS(0, unknown, 8, 7);
    EXPECT(seen[0].count == 0);
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- More regions than are compared each time ---- */

enum {
    MANY = 3000,
    PAGE = 4096,
};

static uint8_t field[MANY * 16 + 2 * PAGE] __attribute__((aligned(4096)));

static void poke(uint8_t *at, uint64_t value) {
    memcpy(at, &value, sizeof value);
}

static void nothing(void) {
}

/* Unknown calls, until seconds have gone by or all that has changed was told. */
static void call_until(int count) {
    for (double begin = seconds(); seconds() - begin < 5 && seen[0].count < count;)
        CALL_AS(0, nothing, 0);
}

static void test_many(void) {
    static int64_t ids[MANY];
    uint8_t *page = field + PAGE;
    memset(field, 'a', sizeof field);
    for (int i = 0; i < MANY; i++)
        ids[i] = quipu_runtime_watch((uint64_t)field + (uint64_t)i * 16, 8, (uint64_t)note,
                                     (uint64_t)&seen[0]);
    seen[0].count = 0;
    CALL(memset, field + 16 * 2500, 'b', 2);
    expect_at(0, "aaaaaaaa", "bbaaaaaa", field + 16 * 2500, 2);
    CALL_AS(0, poke, field + 16 * 2600, 0x6161616161616162);
    call_until(1);
    expect_at(0, "aaaaaaaa", "baaaaaaa", field + 16 * 2600, 1);
    /* variables may not be readable from now on: no comparison reads them without asking */
    CALL(mprotect, page, PAGE, PROT_NONE);
    for (double begin = seconds(); seconds() - begin < 0.2;)
        CALL_AS(0, nothing, 0);
    EXPECT(seen[0].count == 0);
    CALL(mprotect, page, PAGE, PROT_READ | PROT_WRITE);
    CALL_AS(0, poke, page, 0x6161616161616163);
    call_until(1);
    expect_at(0, "aaaaaaaa", "caaaaaaa", page, 1);
    for (int i = 0; i < MANY; i++)
        EXPECT(quipu_runtime_unwatch(ids[i]) == 0);
}

static void cost(void) {
    double times[4];
    enum {
        TURNS = 1000000
    };
    int64_t id = watch(8, 8, 0);
    times[0] = seconds();
    for (int i = 0; i < TURNS; i++)
        CALL(memset, bytes + 1024, 'b', 64);
    times[1] = seconds();
    for (int i = 0; i < TURNS; i++)
        CALL(memset, bytes, 'b', 64);
    times[2] = seconds();
    for (int i = 0; i < TURNS; i++)
        CALL_AS(0, memset, bytes + 1024, 'b', 64);
    times[3] = seconds();
    printf("ns: known call elsewhere %.0f, that hits %.0f, unknown call, one region %.0f\n",
           (times[1] - times[0]) * 1e9 / TURNS, (times[2] - times[1]) * 1e9 / TURNS,
           (times[3] - times[2]) * 1e9 / TURNS);
    quipu_runtime_unwatch(id);
}

int main(int argc, char **argv) {
    EXPECT(quipu_watch_ready);
    bytes =
        (uint8_t *)mmap(NULL, 16384, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) +
        4096;
    if (argc > 1 && strcmp(argv[1], "cost") == 0) {
        cost();
        return 0;
    }
    test_known();
    test_vector();
    test_unknown();
    test_many();
    return 0;
}

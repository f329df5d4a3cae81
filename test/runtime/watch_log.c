/* watch_log.c: hits in the ring of the watch file.  The program is its own consumer: it makes the
 * file, runs itself again with a part's name, and reads what that tells.  watch_log.sh runs it. */
#include "runtime/core/note.h"
#include "runtime/watch/watch.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define EXPECT(condition)                                                                          \
    ((condition)                                                                                   \
         ? (void)0                                                                                 \
         : (printf("%s:%d: %s\n", __FILE__, __LINE__, #condition), fflush(stdout), _exit(1)))

enum {
    RING = 65536,
    REQUESTS = 64,
    MANY = 200000,
    ALLOWED = 64,        /* writers for which there is room */
    ALLOWED_BELOW = 5000 /* who writes such a value first, is allowed */
};

static uint64_t one, other, answers, guarded;
static uint8_t large[10000], guarded_bytes[5000];

static void store8(uint64_t *at, uint64_t value) {
    __asm__ volatile("leaq -128(%%rsp), %%rsp\n\tpushq $0\n\tpushq %[at]\n\tpushq %[what]\n\t"
                     "call quipu_watch_begin_more\n\t"
                     "movq %[value], (%[at])\n\t"
                     "leaq -128(%%rsp), %%rsp\n\tcall quipu_watch_end\n\t"
                     :
                     : [at] "r"(at), [value] "r"(value),
                       [what] "i"((int)QUIPU_STORE_DESCRIPTION(8, QUIPU_STORE_PLAIN, 0, 0))
                     : "memory");
}

static void fill(uint8_t *at, uint8_t value, uint64_t count) {
    __asm__ volatile(
        "leaq -128(%%rsp), %%rsp\n\tpushq %[count]\n\tpushq %[at]\n\tpushq %[what]\n\t"
        "call quipu_watch_begin_more\n\t"
        "rep stosb\n\t"
        "leaq -128(%%rsp), %%rsp\n\tcall quipu_watch_end\n\t"
        : [at] "+D"(at), [count] "+c"(count)
        : "a"(value), [what] "i"((int)QUIPU_STORE_DESCRIPTION(1, QUIPU_STORE_STRING, 0, 0))
        : "memory");
}

/* ---- The program's parts ---- */

static void part_plain(void) {
    for (uint64_t i = 1; i <= 10; i++)
        store8(&one, i);
    store8(&one, 10); /* no change */
    memset(large, 1, sizeof large);
    fill(large, 1, 5000);
    fill(large, 2, 9000);
    store8(&other, 1);
}

static void part_many(void) {
    for (uint64_t i = 1; i <= MANY; i++)
        store8(&one, i);
}

static void *some(void *argument) {
    (void)argument;
    for (uint64_t i = 1; i <= MANY / 4; i++)
        store8(&one, i);
    return NULL;
}

static void part_threads(void) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, some, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

static volatile sig_atomic_t traps;

static void on_trap(int number) {
    (void)number;
    traps++;
}

static void part_answers(void) {
    signal(SIGTRAP, on_trap);
    store8(&answers, 1); /* go on */
    EXPECT(traps == 0);
    store8(&other, 1);   /* not watched */
    store8(&answers, 2); /* trap, and look at the requests */
    EXPECT(traps == 1);
    store8(&other, 2);   /* watched now */
    store8(&answers, 3); /* look: the other is unwanted */
    store8(&other, 3);
    store8(&answers, 4); /* end */
    _exit(1);
}

static void part_children(void) {
    store8(&one, 1);
    if (fork() == 0) {
        store8(&one, 2);
        execl("/proc/self/exe", "log", "leaf", NULL);
        _exit(1);
    }
    wait(NULL);
    if (syscall(SYS_fork) == 0) {
        store8(&one, 4);
        _exit(0);
    }
    wait(NULL);
    store8(&one, 5);
}

static void part_leaf(void) {
    store8(&one, 3);
}

static __attribute__((noinline)) void put(uint64_t value) {
    store8(&guarded, value);
}

static __attribute__((noinline)) void put_bytes(uint8_t value) {
    fill(guarded_bytes, value, sizeof guarded_bytes);
}

static void part_allowed(void) {
    for (uint64_t i = 1; i <= 100; i++) {
        put(i);
        put_bytes((uint8_t)i);
    }
    store8(&guarded, ALLOWED_BELOW);
    put(101);
    store8(&guarded, ALLOWED_BELOW); /* elsewhere */
    if (fork() == 0) {
        put(102);
        store8(&guarded, ALLOWED_BELOW + 1);
        put(ALLOWED_BELOW);
        execl("/proc/self/exe", "log", "misused", NULL);
        _exit(1);
    }
    wait(NULL);
}

/* In an executable with fixed addresses those of what was allowed. */
static void part_misused(void) {
    put(ALLOWED_BELOW);
    put_bytes(1);
    put(ALLOWED_BELOW + 1);
    put_bytes(2);
}

static const struct part {
    const char *name;
    void (*run)(void);
} parts[] = {{"plain", part_plain},     {"many", part_many},         {"threads", part_threads},
             {"answers", part_answers}, {"children", part_children}, {"leaf", part_leaf},
             {"allowed", part_allowed}, {"misused", part_misused}};

/* ---- The consumer ---- */

static struct quipu_watch_file *file;
static struct quipu_watch_request *requests;
static struct quipu_allowed_writer *allowed;
static uint8_t *ring;
static struct quipu_watch_request of_us; /* bias and build id of this program */
static uint64_t bias;

static int describe(struct dl_phdr_info *info, size_t size, void *data) {
    (void)size, (void)data;
    of_us.build_id_size = module_build_id(info, of_us.build_id);
    bias = info->dlpi_addr;
    return 1;
}

static void make_file(void) {
    int fd = open("log.watch", O_RDWR | O_CREAT | O_TRUNC, 0600);
    uint64_t size = 4096 + 2 * 4096 + RING;
    EXPECT(fd >= 0 && ftruncate(fd, (off_t)size) == 0);
    file = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    memcpy(file->magic, QUIPU_WATCH_MAGIC, 8);
    file->version = QUIPU_WATCH_VERSION;
    file->allowed_offset = 1024;
    file->allowed_count = ALLOWED;
    file->request_offset = 4096;
    file->ring_offset = 3 * 4096;
    file->ring_size = RING;
    file->consumer = (uint32_t)getpid();
    allowed = (void *)((char *)file + 1024);
    requests = (void *)((char *)file + 4096);
    ring = (uint8_t *)file + file->ring_offset;
    setenv("QUIPU_WATCH", "log.watch", 1);
    close(fd);
}

static void ask(const void *address, uint64_t size, uint32_t flags) {
    struct quipu_watch_request *request = &requests[file->request_count];
    *request = of_us;
    request->address = (uint64_t)address - bias;
    request->size = size;
    request->flags = flags;
    request->state = QUIPU_REQUEST_WANTED;
    __atomic_add_fetch(&file->request_count, 1, __ATOMIC_RELEASE);
}

static pid_t child;
static int status;
static bool ended;

static pid_t start(const char *part) {
    child = fork();
    if (child == 0) {
        execl("/proc/self/exe", "log", part, NULL);
        _exit(1);
    }
    ended = false;
    return child;
}

static uint64_t position;
static uint32_t module_number; /* of the module that was told of last */

static void allow(uint64_t pc) {
    for (uint64_t i = 0; i < QUIPU_ALLOWED_TRIES; i++) {
        struct quipu_allowed_writer *writer =
            &allowed[(quipu_allowed_place(module_number, pc) + i) % ALLOWED];
        if (writer->module)
            continue;
        writer->pc = pc;
        __atomic_store_n(&writer->module, module_number, __ATOMIC_RELEASE);
        return;
    }
}

static void answer_to(struct quipu_hit *hit, uint32_t answer) {
    __atomic_store_n(&hit->answer, answer, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, &hit->answer, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
    while (__atomic_load_n(&hit->answer, __ATOMIC_SEQ_CST) == answer)
        usleep(100);
    EXPECT(hit->answer == (answer | QUIPU_ANSWER_TAKEN));
}

/* The next record but pads, a copy; NULL: the program has ended. */
static const struct quipu_record *next(void) {
    static uint64_t room[RING / 8];
    struct quipu_record *copy = (void *)room;
    const struct quipu_hit *told = (const void *)room;
    for (;;) {
        struct quipu_record *record = (void *)(ring + (position & (RING - 1)));
        uint32_t size = __atomic_load_n(&record->size, __ATOMIC_ACQUIRE);
        if (!size && ended)
            return NULL;
        if (!size) {
            struct timespec wait = {0, 1000000};
            __atomic_store_n(&file->waiting, 1, __ATOMIC_SEQ_CST);
            if (!__atomic_load_n(&record->size, __ATOMIC_SEQ_CST))
                syscall(SYS_futex, &file->waiting, FUTEX_WAIT, 1, &wait, NULL, 0);
            ended = waitpid(child, &status, WNOHANG) == child;
            continue;
        }
        EXPECT(size % 8 == 0 && (position & (RING - 1)) + size <= RING);
        memcpy(copy, record, size);
        struct quipu_hit *hit = (void *)record;
        uint32_t answer = told->answer;
        if (record->kind == QUIPU_RECORD_HIT && hit->request == 2 && !answer) {
            uint64_t value;
            memcpy(&value, (const uint8_t *)(told + 1) + 8, 8);
            answer = QUIPU_ANSWER_GO_ON;
            if (value == 2) {
                ask(&other, 8, 0);
                answer = QUIPU_ANSWER_TRAP | QUIPU_ANSWER_LOOK;
            } else if (value == 3) {
                requests[3].state = QUIPU_REQUEST_UNWANTED;
                answer = QUIPU_ANSWER_LOOK;
            } else if (value == 4) {
                answer = QUIPU_ANSWER_END;
            }
            answer_to(hit, answer);
        }
        if (record->kind == QUIPU_RECORD_MODULE)
            module_number = ((const struct quipu_module_record *)record)->number;
        if (record->kind == QUIPU_RECORD_HIT &&
            requests[hit->request].flags & QUIPU_REQUEST_GUARDED) {
            if (*((const uint64_t *)(told + 1) + 1) < ALLOWED_BELOW || hit->request == 5)
                allow(hit->pc);
            answer_to(hit, QUIPU_ANSWER_GO_ON);
        }
        memset(record, 0, size);
        position += size;
        __atomic_store_n(&file->tail, position, __ATOMIC_RELEASE);
        if (copy->kind != QUIPU_RECORD_PAD)
            return copy;
    }
}

static void finish(void) {
    const struct quipu_record *record = next();
    EXPECT(!record && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void expect_module(void) {
    const struct quipu_module_record *module = (const void *)next();
    char path[1024] = "";
    EXPECT(readlink("/proc/self/exe", path, sizeof path - 1) > 0);
    EXPECT(module && module->record.kind == QUIPU_RECORD_MODULE);
    EXPECT(module->build_id_size == of_us.build_id_size);
    EXPECT(memcmp(module->build_id, of_us.build_id, of_us.build_id_size) == 0);
    EXPECT(strcmp((const char *)(module + 1), path) == 0);
    EXPECT(module->name_size == strlen(path) + 1 && module->begin < module->end);
}

static const struct quipu_hit *expect_hit(uint32_t request) {
    const struct quipu_hit *hit = (const void *)next();
    EXPECT(hit && hit->record.kind == QUIPU_RECORD_HIT && hit->request == request);
    EXPECT(hit->cause == QUIPU_CAUSE_STORE &&
           hit->record.size == sizeof *hit + 2 * ((hit->told + 7) / 8 * 8));
    return hit;
}

static uint64_t value_of(const struct quipu_hit *hit, bool now) {
    EXPECT(hit->told == 8 && hit->offset == 0);
    return ((const uint64_t *)(hit + 1))[now];
}

static void expect_value(uint32_t request, uint64_t old, uint64_t now) {
    const struct quipu_hit *hit = expect_hit(request);
    EXPECT(value_of(hit, false) == old && value_of(hit, true) == now);
}

static void test_plain(void) {
    start("plain");
    expect_module();
    for (uint64_t i = 1; i <= 10; i++) {
        const struct quipu_hit *hit = expect_hit(0);
        EXPECT(value_of(hit, false) == i - 1 && value_of(hit, true) == i);
        EXPECT(hit->record.pid == (uint32_t)child && hit->record.thread == (uint32_t)child);
        EXPECT(hit->address == hit->region && hit->length == 8);
    }
    expect_value(0, 10, 10);
    const struct quipu_hit *hit = expect_hit(1); /* the one without change is not told */
    const uint8_t *bytes = (const uint8_t *)(hit + 1);
    EXPECT(hit->told == QUIPU_TOLD_MAX && hit->length == 9000 && hit->offset == 0);
    EXPECT(bytes[0] == 1 && bytes[4095] == 1 && bytes[4096] == 2 && bytes[8191] == 2);
    finish();
    EXPECT(requests[0].state == QUIPU_REQUEST_MADE && requests[1].state == QUIPU_REQUEST_MADE);
}

static void test_many(bool print) {
    struct timespec begin, end;
    start("many");
    expect_module();
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (uint64_t i = 1; i <= MANY; i++)
        expect_value(0, i - 1, i);
    clock_gettime(CLOCK_MONOTONIC, &end);
    finish();
    if (print)
        printf("ns a hit, writer and reader: %.0f\n",
               ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) /
                   MANY);
}

static void test_threads(void) {
    uint32_t numbers[4] = {0};
    uint64_t last[4] = {0};
    start("threads");
    expect_module();
    for (uint64_t i = 1; i <= MANY; i++) {
        const struct quipu_hit *hit = expect_hit(0);
        int t = 0;
        while (numbers[t] && numbers[t] != hit->record.thread)
            EXPECT(++t < 4);
        numbers[t] = hit->record.thread;
        last[t]++;
    }
    for (int i = 0; i < 4; i++)
        EXPECT(last[i] == MANY / 4);
    finish();
}

static void test_answers(void) {
    start("answers");
    expect_module();
    expect_value(2, 0, 1);
    expect_value(2, 1, 2);
    expect_value(3, 1, 2);
    expect_value(2, 2, 3);
    expect_value(2, 3, 4);
    EXPECT(!next() && WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    EXPECT(requests[3].state == QUIPU_REQUEST_GONE && requests[2].state == QUIPU_REQUEST_MADE);
}

static void test_children(void) {
    uint32_t pid = (uint32_t)start("children");
    expect_module();
    expect_value(0, 0, 1);
    expect_module();
    const struct quipu_hit *hit = expect_hit(0);
    uint32_t second = hit->record.pid;
    EXPECT(second != pid && hit->record.thread == second && value_of(hit, true) == 2);
    expect_module();
    hit = expect_hit(0);
    EXPECT(hit->record.pid == second && value_of(hit, false) == 0 && value_of(hit, true) == 3);
    expect_module();
    hit = expect_hit(0);
    EXPECT(hit->record.pid != second && hit->record.pid != pid && value_of(hit, true) == 4);
    hit = expect_hit(0);
    EXPECT(hit->record.pid == pid && value_of(hit, true) == 5);
    finish();
}

/* Each writer that is allowed tells once, but where there is no room for it. */
static void test_allowed(unsigned times) {
    uint32_t pid = (uint32_t)start("allowed"), number;
    expect_module();
    number = module_number;
    for (unsigned i = 1; i <= times; i++) {
        expect_value(4, i - 1, i);
        const struct quipu_hit *hit = expect_hit(5);
        const uint8_t *bytes = (const uint8_t *)(hit + 1);
        EXPECT(hit->length == 5000 && bytes[0] == i - 1 && bytes[hit->told] == i);
    }
    expect_value(4, 100, ALLOWED_BELOW);
    if (times > 1)
        expect_value(4, ALLOWED_BELOW, 101);
    expect_value(4, 101, ALLOWED_BELOW);
    if (times == 1) { /* the child's begin is told of where it first tells anything */
        expect_module();
        EXPECT(module_number == number);
    }
    if (times > 1) {
        expect_module();
        expect_value(4, ALLOWED_BELOW, 102);
    }
    const struct quipu_hit *hit = expect_hit(4);
    EXPECT(value_of(hit, false) == 102 && hit->record.pid != pid);
    if (times > 1)
        expect_value(4, ALLOWED_BELOW + 1, ALLOWED_BELOW);
    expect_module();
    EXPECT(module_number != number);
    expect_value(4, 0, ALLOWED_BELOW);
    expect_hit(5);
    expect_value(4, ALLOWED_BELOW, ALLOWED_BELOW + 1);
    if (times > 1)
        expect_hit(5);
    finish();
}

/* Nobody reads: the program does not wait for ever. */
static void test_gone(void) {
    pid_t nobody = fork();
    if (nobody == 0)
        _exit(0);
    waitpid(nobody, NULL, 0);
    file->consumer = (uint32_t)nobody;
    start("many");
    EXPECT(waitpid(child, &status, 0) == child && status == 0);
}

int main(int argc, char **argv) {
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (argc > 1 && strcmp(argv[1], parts[i].name) == 0) {
            parts[i].run();
            return 0;
        }
    dl_iterate_phdr(describe, NULL);
    EXPECT(of_us.build_id_size > 0);
    make_file();
    ask(&one, 8, 0);
    ask(large, sizeof large, QUIPU_REQUEST_CHANGES);
    ask(&answers, 8, QUIPU_REQUEST_WAITS);
    test_plain();
    test_many(argc > 1);
    test_threads();
    test_answers();
    test_children();
    ask(&guarded, 8, QUIPU_REQUEST_GUARDED | QUIPU_REQUEST_WAITS);
    ask(guarded_bytes, sizeof guarded_bytes, QUIPU_REQUEST_GUARDED | QUIPU_REQUEST_WAITS);
    test_allowed(1);
    for (unsigned i = 0; i < ALLOWED; i++)
        allowed[i].module = UINT32_MAX; /* of nobody */
    test_allowed(100);
    test_gone();
    return 0;
}

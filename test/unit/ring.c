// The consumer's side of the ring (format/watch.h, section 4): records of several processes arrive
// whole, and each writer's in order, over several rounds of the ring; a record that nobody
// completes costs itself and no other; garbage is skipped and never ends in an endless loop; slots
// of requests are used again.
#include "watch/ring.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    WRITERS = 4,
    RECORDS = 20000, /* of each writer: some 40 MB in all */
    MOST = 480,      /* bytes that a hit has before and after */
    ROUNDS = 200     /* of garbage */
};

static int faults;

static void expect(int condition, const char *what, uint64_t number) {
    if (!condition)
        printf("%s: %llu\n", what, (unsigned long long)number), faults++;
}

/* ---- a writer ---- */

static struct quipu_record *record_at(struct quipu_watch_file *file, uint64_t at) {
    return (void *)((char *)file + file->ring_offset + at % file->ring_size);
}

static void complete(struct quipu_record *record, uint32_t size, uint32_t kind) {
    record->kind = kind;
    __atomic_store_n(&record->size, size, __ATOMIC_SEQ_CST);
}

/* Waits for room; pads up to the ring's end if the record does not fit there. */
static struct quipu_record *reserve(struct quipu_watch_file *file, uint32_t size) {
    for (;;) {
        uint64_t head = __atomic_load_n(&file->head, __ATOMIC_ACQUIRE);
        uint64_t rest = file->ring_size - head % file->ring_size, pad = rest < size ? rest : 0;
        if (head + pad + size - __atomic_load_n(&file->tail, __ATOMIC_ACQUIRE) > file->ring_size) {
            usleep(50);
            continue;
        }
        if (!__atomic_compare_exchange_n(&file->head, &head, head + pad + size, false,
                                         __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            continue;
        if (pad)
            complete(record_at(file, head), (uint32_t)pad, QUIPU_RECORD_PAD);
        return record_at(file, head + pad);
    }
}

/* A hit of WRITER whose bytes can be known from its NUMBER. */
static void write_hit(struct quipu_watch_file *file, uint32_t writer, uint64_t number) {
    uint64_t bytes = number * 13 % (MOST + 1), room = (bytes + 7) / 8 * 8;
    struct quipu_hit *hit = (void *)reserve(file, (uint32_t)(sizeof *hit + 2 * room));
    hit->record.pid = (uint32_t)getpid();
    hit->record.thread = (uint32_t)getpid();
    hit->request = writer;
    hit->address = number;
    hit->told = bytes;
    memset(hit + 1, (int)(number & 0xff), bytes);
    memset((char *)(hit + 1) + room, (int)(~number & 0xff), bytes);
    complete(&hit->record, (uint32_t)(sizeof *hit + 2 * room), QUIPU_RECORD_HIT);
}

/* ---- the consumer ---- */

static void check_hit(const struct quipu_hit *hit, uint64_t next[WRITERS]) {
    uint64_t number = hit->address, room = (hit->told + 7) / 8 * 8;
    const unsigned char *old = (const void *)(hit + 1), *now = old + room;
    bool good = hit->told == number * 13 % (MOST + 1);
    expect(hit->request < WRITERS && next[hit->request]++ == number, "a hit out of order", number);
    for (uint64_t i = 0; good && i < hit->told; i++)
        good = old[i] == (number & 0xff) && now[i] == (~number & 0xff);
    expect(good, "a hit with other bytes", number);
}

/* Takes COUNT records, and checks them. */
static void take_hits(struct ring *ring, uint64_t count, uint64_t next[WRITERS]) {
    for (uint64_t taken = 0; taken < count && !faults;) {
        const struct quipu_record *record = ring_next(ring);
        if (!record) {
            ring_nap();
            continue;
        }
        check_hit((const void *)record, next);
        ring_done(ring, record);
        taken++;
    }
}

static void try_writers(struct ring *ring) {
    uint64_t next[WRITERS] = {0};
    pid_t writers[WRITERS];
    for (uint32_t i = 0; i < WRITERS; i++) {
        writers[i] = fork();
        if (writers[i] == 0) {
            for (uint64_t number = 0; number < RECORDS; number++)
                write_hit(ring->file, i, number);
            _exit(0);
        }
    }
    take_hits(ring, (uint64_t)WRITERS * RECORDS, next);
    for (int i = 0; i < WRITERS; i++) {
        if (faults)
            kill(writers[i], SIGKILL);
        waitpid(writers[i], NULL, 0);
    }
    expect(!ring_next(ring) && !ring_is_stuck(ring), "records after the last", 0);
    expect(ring->lost == 0, "lost bytes", ring->lost);
    expect(ring->tail > 3ull * RING_SIZE, "too few bytes for the test", ring->tail);
}

/* A writer ends between two others that complete their records. */
static void try_incomplete(struct ring *ring) {
    uint64_t next[WRITERS] = {0}, lost = ring->lost;
    write_hit(ring->file, 0, 0);
    pid_t writer = fork();
    if (writer == 0) {
        struct quipu_record *record = reserve(ring->file, 128);
        record->pid = record->thread = (uint32_t)getpid();
        _exit(0);
    }
    waitpid(writer, NULL, 0);
    write_hit(ring->file, 0, 1);
    take_hits(ring, 1, next);
    expect(!ring_next(ring), "an incomplete record", 0);
    expect(ring_is_stuck(ring) && ring_is_abandoned(ring), "it is not known to be incomplete", 0);
    ring_skip(ring);
    take_hits(ring, 1, next);
    expect(ring->lost - lost == 128, "bytes that are lost with it", ring->lost - lost);
}

/* The program writes over the ring. */
static void try_garbage(struct ring *ring) {
    uint64_t next[WRITERS] = {0};
    const struct quipu_record *record;
    srandom(1);
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t length = 8 + (uint64_t)random() % 4096 / 8 * 8;
        for (uint64_t i = 0; i < length; i++)
            ((char *)record_at(ring->file, ring->tail + i / 8 * 8))[i % 8] =
                (char)(random() % 3 ? 0 : random());
        if (round % 2)
            __atomic_fetch_add(&ring->file->head, length, __ATOMIC_RELEASE);
        for (int i = 0; i < 10000 && (record = ring_next(ring)); i++)
            ring_done(ring, record);
        expect(!ring_next(ring), "records without an end, round", (uint64_t)round);
        while (ring_is_stuck(ring))
            ring_skip(ring);
        /* as a process that starts anew would find it */
        memset(ring->records, 0, RING_SIZE);
        ring->tail = (ring->tail + RING_SIZE) / RING_SIZE * RING_SIZE;
        ring->file->tail = ring->file->head = ring->tail;
    }
    write_hit(ring->file, 0, 0);
    take_hits(ring, 1, next);
}

static void try_requests(struct ring *ring) {
    struct quipu_watch_request request = {.address = 4096, .size = 8};
    struct quipu_watch_range ranges[3] = {{1, 2}, {3, 4}, {5, 6}};
    for (uint32_t i = 0; i < REQUESTS_MAX; i++)
        expect(ring_ask(ring, &request) == i, "the number of a request", i);
    expect(ring_ask(ring, &request) == REQUESTS_MAX, "one request too many", REQUESTS_MAX);
    ring->requests[77].state = QUIPU_REQUEST_GONE;
    expect(ring_ask(ring, &request) == 77, "a request that is gone is not used again", 77);
    expect(ring_add_ranges(ring, &request, ranges, 3, 10) && request.range_count == 3 &&
               ring->ranges[request.first_range + 2].end == 16,
           "the ranges of a request", request.first_range);
    while (ring->range_count + 3 <= RANGES_MAX)
        ring_add_ranges(ring, &request, ranges, 3, 0);
    expect(!ring_add_ranges(ring, &request, ranges, 3, 0), "too many ranges", ring->range_count);
    ring_allow(ring, 5, 0x1234);
    ring_allow(ring, 5, 0x1234);
    unsigned found = 0;
    for (unsigned i = 0; i < ALLOWED_MAX; i++)
        found += ring->allowed[i].module == 5 && ring->allowed[i].pc == 0x1234;
    expect(found == 1, "an allowed writer's entries", found);
}

int main(void) {
    struct ring ring;
    const char *wrong = ring_make(&ring);
    if (wrong) {
        printf("%s\n", wrong);
        return 1;
    }
    try_writers(&ring);
    if (!faults)
        try_incomplete(&ring);
    try_garbage(&ring);
    try_requests(&ring);
    ring_remove(&ring);
    return faults != 0;
}

/* watch_regions.c: the table of regions against a plain list, alone and with threads; its costs and
 * its memory.  watch_regions.sh runs it. */
#include "runtime/watch/watch.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define EXPECT(condition)                                                                          \
    ((condition) ? (void)0 : (printf("%s:%d: %s\n", __FILE__, __LINE__, #condition), exit(1)))

enum {
    LIVE = 600,
    ARENA = 1 << 20,
};

struct known {
    int64_t id;
    uint64_t address, size;
};

static struct known list[LIVE];
static uint64_t arena;

static uint64_t random_number(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static uint64_t random_size(uint64_t *state) {
    uint64_t bits = random_number(state) % 20;
    return 1 + random_number(state) % ((uint64_t)1 << bits);
}

static int compare(const void *a, const void *b) {
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return left < right ? -1 : left > right;
}

/* All that overlap, by rounds of the table's batches. */
static unsigned find_all(uint64_t address, uint64_t end, uint32_t *all) {
    uint32_t found[WATCH_BATCH], from = 0;
    unsigned total = 0, count;
    do {
        count = quipu_watch_find(address, end, from, found);
        memcpy(all + total, found, count * sizeof *found);
        total += count;
        from = count ? found[count - 1] + 1 : 0;
    } while (count == WATCH_BATCH);
    return total;
}

static void check_find(uint64_t address, uint64_t size) {
    uint32_t found[LIVE], wanted[LIVE];
    unsigned count = 0;
    for (int i = 0; i < LIVE; i++)
        if (list[i].id && list[i].address < address + size &&
            address < list[i].address + list[i].size)
            wanted[count++] = (uint32_t)list[i].id - 1;
    qsort(wanted, count, sizeof *wanted, compare);
    EXPECT(find_all(address, address + size, found) == count);
    EXPECT(memcmp(found, wanted, count * sizeof *found) == 0);
}

/* Granules from which a store of 64 bytes can touch a region, and no others. */
static void check_shadow(void) {
    static uint8_t marks[ARENA / 64 + 64];
    memset(marks, 0, sizeof marks);
    uint64_t first = (arena >> 6) - 8;
    for (int i = 0; i < LIVE; i++)
        for (uint64_t granule = (list[i].address - 63) >> 6;
             list[i].id && granule <= (list[i].address + list[i].size - 1) >> 6; granule++)
            marks[granule - first] = 1;
    const uint8_t *shadow = (const uint8_t *)QUIPU_WATCH_SHADOW + first;
    for (uint64_t i = 0; i < sizeof marks; i++)
        EXPECT(!marks[i] <= !shadow[i]); /* a count that was full stays */
    if (WATCH->count == 0)
        EXPECT(WATCH->armed == 0);
}

static void test_random(void) {
    uint64_t state = 88172645463325252;
    for (int turn = 0; turn < 30000; turn++) {
        struct known *known = &list[random_number(&state) % LIVE];
        if (known->id) {
            EXPECT(quipu_watch_remove(known->id) == 0);
            EXPECT(quipu_watch_remove(known->id) == -ENOENT);
            known->id = 0;
        } else {
            known->size = random_size(&state);
            known->address = arena + random_number(&state) % (ARENA - known->size);
            known->id = quipu_watch_add(known->address, known->size, 1, (uint64_t)turn, 0);
            EXPECT(known->id > 0);
        }
        check_find(arena + random_number(&state) % (ARENA / 2), random_size(&state));
        if (turn % 1000 == 0)
            check_shadow();
    }
    for (int i = 0; i < LIVE; i++)
        if (list[i].id)
            EXPECT(quipu_watch_remove(list[i].id) == 0);
    EXPECT(WATCH->count == 0 && WATCH->armed == 0);
}

static void test_errors(void) {
    EXPECT(quipu_watch_add(arena, 0, 1, 0, 0) == -EINVAL);
    EXPECT(quipu_watch_add(UINT64_MAX - 3, 8, 1, 0, 0) == -EINVAL);
    EXPECT(quipu_watch_add(arena, UINT64_MAX, 1, 0, 0) == -EINVAL);
    EXPECT(quipu_watch_remove(0) == -ENOENT && quipu_watch_remove(-1) == -ENOENT);
    EXPECT(quipu_watch_remove((int64_t)1 << 40) == -ENOENT);
    int64_t id = quipu_watch_add(0, 1, 1, 0, 0); /* nobody can read it */
    EXPECT(id > 0 && quipu_watch_remove(id) == 0);
    id = quipu_watch_add(((uint64_t)1 << 47) - 1, 1, 1, 0, 0);
    EXPECT(id > 0 && quipu_watch_remove(id) == 0);
}

/* ---- Threads: some regions always stand, and are always found ---- */

enum {
    FIXED = 64
};

static int stop;

static void *change(void *argument) {
    uint64_t state = (uint64_t)argument * 7919 + 1;
    int64_t ids[50] = {0};
    for (int turn = 0; turn < 200000; turn++) {
        int64_t *id = &ids[random_number(&state) % 50];
        if (*id)
            EXPECT(quipu_watch_remove(*id) == 0);
        uint64_t size = random_size(&state);
        *id = turn < 199000
                  ? quipu_watch_add(arena + random_number(&state) % (ARENA - size), size, 1, 1, 0)
                  : 0;
    }
    for (int i = 0; i < 50; i++)
        EXPECT(ids[i] == 0 || quipu_watch_remove(ids[i]) == 0);
    return NULL;
}

static void *look(void *argument) {
    uint64_t state = (uint64_t)argument * 104729 + 1;
    uint32_t found[5000];
    struct watch_region region;
    while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
        uint64_t which = random_number(&state) % FIXED;
        uint64_t address = arena + which * (ARENA / FIXED);
        unsigned count = find_all(address, address + 8, found);
        bool seen = false;
        for (unsigned i = 0; i < count; i++) {
            EXPECT(i == 0 || found[i] > found[i - 1]);
            if (quipu_watch_look(found[i], address, address + 8, &region)) {
                EXPECT(region.address < address + 8 && address < region.address + region.size);
                seen |= region.argument == 1000 + which;
            }
        }
        EXPECT(seen);
    }
    return NULL;
}

static void test_threads(void) {
    pthread_t changers[2], lookers[2];
    int64_t fixed[FIXED];
    for (uint64_t i = 0; i < FIXED; i++)
        fixed[i] = quipu_watch_add(arena + i * (ARENA / FIXED), 8, 1, 1000 + i, 0);
    for (uint64_t i = 0; i < 2; i++) {
        pthread_create(&changers[i], NULL, change, (void *)(i + 1));
        pthread_create(&lookers[i], NULL, look, (void *)(i + 1));
    }
    for (int i = 0; i < 2; i++)
        pthread_join(changers[i], NULL);
    __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < 2; i++)
        pthread_join(lookers[i], NULL);
    for (int i = 0; i < FIXED; i++)
        EXPECT(quipu_watch_remove(fixed[i]) == 0);
    EXPECT(WATCH->count == 0);
}

/* ---- Costs, with a million regions ---- */

enum {
    MANY = 1000000
};

/* Of the processor: others may use it, too. */
static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static long resident(void) {
    long pages = 0, all = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    EXPECT(file && fscanf(file, "%ld %ld", &all, &pages) == 2);
    fclose(file);
    return pages * 4096;
}

static long page_tables(void) {
    char line[256];
    long size = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (fgets(line, sizeof line, file))
        sscanf(line, "VmPTE: %ld kB", &size);
    fclose(file);
    return size * 1024;
}

static void test_many(bool quick) {
    static int64_t ids[MANY];
    uint32_t found[WATCH_BATCH];
    uint64_t pages = MANY, state = 12345, hits = 0;
    char *memory = mmap(NULL, pages * 4096, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    for (int i = 0; i < MANY; i++)
        ids[i] = 1; /* in memory before it is measured; the regions' pages are read, but nobody's */
    long before = resident(), tables = page_tables();
    double begin = seconds();
    for (uint64_t i = 0; i < MANY; i++)
        ids[i] = quipu_watch_add((uint64_t)memory + i * 4096 + i % 4000, 8, 1, i, 0);
    double added = seconds();
    long bytes = resident() - before, table_bytes = page_tables() - tables;
    for (uint64_t i = 0; i < MANY; i++) {
        uint64_t which = random_number(&state) % MANY;
        hits += quipu_watch_find((uint64_t)memory + which * 4096 + which % 4000,
                                 (uint64_t)memory + which * 4096 + which % 4000 + 4, 0, found);
    }
    double looked = seconds();
    EXPECT(hits == MANY);
    for (uint64_t i = 0; i < MANY; i++) {
        uint64_t which = random_number(&state) % MANY;
        EXPECT(quipu_watch_remove(ids[which]) == 0);
        ids[which] =
            quipu_watch_add((uint64_t)memory + which * 4096 + which % 4000, 8, 1, which, 0);
    }
    double changed = seconds();
    for (uint64_t i = 0; i < MANY; i++)
        EXPECT(quipu_watch_remove(ids[i]) == 0);
    double removed = seconds();
    printf("%d regions, ns: create %.0f, find %.0f, delete and create at random %.0f, delete %.0f; "
           "%ld bytes each, and %ld of page tables\n",
           MANY, (added - begin) * 1e9 / MANY, (looked - added) * 1e9 / MANY,
           (changed - looked) * 1e9 / MANY, (removed - changed) * 1e9 / MANY, bytes / MANY,
           table_bytes / MANY);
    EXPECT(bytes / MANY <= 256);
    EXPECT(quick || (added - begin < 2.0 && removed - changed < 2.0));
    EXPECT(WATCH->count == 0);
}

/* Regions that come and go, at addresses that never come again, give the shadow's memory back; some
 * stay meanwhile. */
static void test_memory(void) {
    enum {
        TURNS = 8,
        COUNT = 4000,
        APART = 1 << 18, /* what a page of the shadow is for */
    };
    static int64_t ids[COUNT];
    uint64_t at = (uint64_t)1 << 40;
    int64_t stays = quipu_watch_add(at, 8, 1, 0, 0);
    long before = resident(), after = 0;
    for (int turn = 0; turn < TURNS; turn++) {
        for (int i = 0; i < COUNT; i++)
            ids[i] = quipu_watch_add(at += APART + 24, 8, 1, 0, 0);
        for (int i = 0; i < COUNT; i++)
            EXPECT(quipu_watch_remove(ids[i]) == 0);
        after = resident();
    }
    EXPECT(after - before < 2L * COUNT * 4096 / TURNS);
    EXPECT(quipu_watch_is_marked((uint64_t)1 << 40, ((uint64_t)1 << 40) + 8));
    EXPECT(quipu_watch_remove(stays) == 0);
}

int main(int argc, char **argv) {
    quipu_watch_start(0, NULL, NULL);
    EXPECT(quipu_watch_ready && !WATCH->no_shadow);
    arena = (uint64_t)mmap(NULL, ARENA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (argc > 1 && strcmp(argv[1], "many") == 0) {
        test_many(argc > 2);
        return 0;
    }
    test_random();
    test_errors();
    test_memory();
    test_threads();
    return 0;
}

// Writes to blocks of the heap, which it says on standard output.  C and C++.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#ifdef __cplusplus
#include <new>
#endif

enum {
    LINES = 8192,
    THREADS = 4,
    ROUNDS = 200,
    MOST = 16
};

// What was written.  Told at the end, since who prints allocates.
static struct line {
    const char *mark;
    int thread, number, is_freed;
    char *block;
    size_t size, offset, count;
    unsigned char bytes[2][MOST];
} lines[LINES];
static int line_count;

struct block {
    const char *mark;
    int number; // 0: any
    char *at;
    size_t size;
    int is_freed;
};

static struct line *begin(const struct block *block, size_t offset, size_t count) {
    struct line *line = &lines[__atomic_fetch_add(&line_count, 1, __ATOMIC_RELAXED)];
    line->mark = block->mark;
    line->thread = gettid();
    line->number = block->number;
    line->is_freed = block->is_freed;
    line->block = block->at;
    line->size = block->size;
    line->offset = offset;
    line->count = count;
    for (size_t i = 0; i < count; i++)
        line->bytes[0][i] = ((volatile unsigned char *)block->at)[offset + i];
    return line;
}

static void end(struct line *line) {
    for (size_t i = 0; i < line->count; i++)
        line->bytes[1][i] = ((volatile unsigned char *)line->block)[line->offset + i];
}

__attribute__((noinline)) static void store(char *to, size_t count, uint64_t value) {
    if (count == 1)
        *(volatile uint8_t *)to = (uint8_t)value;
    else if (count == 2)
        *(volatile uint16_t *)to = (uint16_t)value;
    else if (count == 4)
        *(volatile uint32_t *)to = (uint32_t)value;
    else
        *(volatile uint64_t *)to = value;
}

__attribute__((noinline)) static void put(const struct block *block, size_t offset, size_t count,
                                          uint64_t value) {
    struct line *line = begin(block, offset, count);
    if (count == 1)
        *(volatile uint8_t *)(block->at + offset) = (uint8_t)value;
    else if (count == 2)
        *(volatile uint16_t *)(block->at + offset) = (uint16_t)value;
    else if (count == 4)
        *(volatile uint32_t *)(block->at + offset) = (uint32_t)value;
    else
        *(volatile uint64_t *)(block->at + offset) = value;
    end(line);
}

static int (*volatile formatter)(char *, size_t, const char *, ...) = snprintf; // not known
static volatile size_t seven = 7, impossible = (size_t)1 << 60;

__attribute__((noinline)) static void fill(const struct block *block, size_t offset, int value) {
    struct line *line = begin(block, offset, 7);
    memset(block->at + offset, value, seven);
    end(line);
}

// Not known to write there: found by comparing, up to the last byte that changed.
__attribute__((noinline)) static void print(const struct block *block, size_t offset,
                                            const char *text) {
    struct line *line = begin(block, offset, 7);
    formatter(block->at + offset, seven, "%s", text);
    end(line);
    while (line->bytes[0][line->count - 1] == line->bytes[1][line->count - 1])
        line->count--;
}

// The compiler does not know what it is.
static void *hidden(void *pointer) {
    __asm__ volatile("" : "+r"(pointer) : : "memory");
    return pointer;
}

static struct block block_of(const char *mark, int number, void *at, size_t size) {
    struct block block = {mark, number, (char *)hidden(at), size, 0};
    return block;
}

__attribute__((noinline)) static void release(struct block *block) {
    free(hidden(block->at));
    block->is_freed = 1;
}

__attribute__((noinline)) static void *allocate(size_t size) {
    return malloc(size); /* LINE tail */
}

static void loop(void) {
    struct block blocks[6];
    for (int i = 0; i < 5; i++) {
        size_t size = 24 + 100 * (size_t)i;
        void *made = malloc(size); /* LINE loop */
        blocks[i] = block_of("loop", i + 1, made, size);
        put(&blocks[i], 0, 4, 100 + (uint64_t)i);
    }
    put(&blocks[4], 423, 1, 9);
    print(&blocks[4], 416, "123456789");
    for (int i = 0; i < 5; i += 2) {
        release(&blocks[i]);
        put(&blocks[i], 16, 8, 0x1234);
        fill(&blocks[i], 16, 'x');
        print(&blocks[i], 17, "after free");
    }
    for (int i = 0; i < 3; i++) // anyone's memory now
        blocks[5] = block_of("", 0, malloc(24 + 200 * (size_t)i), 0);
    store(blocks[4].at, 8, 1);
    put(&blocks[1], 8, 2, 77);
    fill(&blocks[3], 0, 'y');
    free(hidden(blocks[1].at));
    release(&blocks[3]);
    put(&blocks[3], 9, 1, 5);
}

static void resize(void) {
    struct block block = block_of("resize", 1, malloc(40), 40);      /* LINE resize */
    struct block other = block_of("both", 1, realloc(NULL, 16), 16); /* LINE both */
    put(&block, 32, 8, 1);
    block = block_of("resize", 1, realloc(block.at, 32), 32);
    store(block.at + 32, 4, 2); // not of the block any more
    put(&block, 24, 8, 3);
    struct block old = block;
    block = block_of("resize", 1, realloc(block.at, 5000), 5000);
    old.is_freed = 1;
    put(&old, 16, 8, 4);
    put(&block, 24, 8, 5);
    put(&block, 4992, 8, 6);
    // Two lines ask for it now.
    other = block_of("both", 1, realloc(other.at, 300), 300); /* LINE wide */
    put(&other, 296, 4, 7);
    lines[line_count] = lines[line_count - 1];
    lines[line_count++].mark = "wide";
    if (realloc(block.at, impossible))
        abort();
    put(&block, 100, 1, 8);
    release(&block);
    put(&block, 104, 8, 9);
}

static void kinds(void) {
    void *pointer = NULL;
    struct block block = block_of("clear", 1, calloc(3, 7), 21); /* LINE clear */
    put(&block, 20, 1, 1);
    release(&block);
    put(&block, 20, 1, 2);
    block = block_of("aligned", 1, aligned_alloc(256, 512), 512); /* LINE aligned */
    put(&block, 504, 8, 3);
    if (posix_memalign(&pointer, 64, 100) != 0) /* LINE posix */
        abort();
    block = block_of("posix", 1, pointer, 100);
    put(&block, 96, 4, 4);
    release(&block);
    put(&block, 96, 4, 5);
    char *volatile text = (char *)"some text";
    block = block_of("copied", 1, strdup(text), 10); /* LINE copied */
    store(block.at + 10, 1, 0);                      // behind it
    put(&block, 9, 1, '!');
    block = block_of("tail", 1, allocate(33), 33);
    put(&block, 32, 1, 6);
    int access = PROT_READ | PROT_WRITE, kind = MAP_PRIVATE | MAP_ANONYMOUS;
    pointer = mmap(NULL, 8192, access, kind, -1, 0); /* LINE mapped */
    block = block_of("mapped", 1, pointer, 8192);
    put(&block, 8191, 1, 7);
    munmap(block.at, 8192);
    block = block_of("sliced", 1, malloc(10), 10); /* LINE sliced */
    put(&block, 4, 4, 8);
    put(&block, 8, 2, 9);
    store(block.at, 4, 10);
    release(&block);
    put(&block, 6, 2, 11);
    seven = seven + 0; /* LINE none */
}

static void *work(void *unused) {
    struct block kept = {0};
    for (int i = 0; i < ROUNDS; i++) {
        size_t size = 16 + 40 * (size_t)(i % 5);
        struct block block = block_of("thread", 0, malloc(size), size); /* LINE thread */
        put(&block, 8, 8, (uint64_t)i);
        if (i % 3 == 0) {
            if (kept.at)
                release(&kept);
            kept = block;
            continue;
        }
        release(&block);
        if (i % 10 == 1)
            put(&block, 8, 4, (uint64_t)i);
    }
    return unused;
}

#ifdef __cplusplus
struct alignas(64) aligned {
    volatile long values[8];
};

static void objects() {
    struct block block = block_of("object", 1, new aligned, 64); /* LINE object */
    put(&block, 56, 8, 1);
    delete (aligned *)hidden(block.at);
    block.is_freed = 1;
    put(&block, 48, 8, 2);
    block = block_of("array", 1, new long[5], 40); /* LINE array */
    put(&block, 32, 8, 3);
    delete[](long *) hidden(block.at);
    block.is_freed = 1;
    put(&block, 32, 8, 4);
    block = block_of("nothrow", 1, new (std::nothrow) char[600], 600); /* LINE nothrow */
    put(&block, 599, 1, 5);
    delete[](char *) hidden(block.at);
    block.is_freed = 1;
    put(&block, 598, 1, 6);
}
#else
static void objects(void) {
}
#endif

int main(void) {
    pthread_t threads[THREADS];
    loop();
    resize();
    kinds();
    objects();
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < line_count; i++) {
        const struct line *line = &lines[i];
        printf("%d %s %d %p %zu %zu ", line->thread, line->mark, line->number, (void *)line->block,
               line->size, line->offset);
        for (int j = 0; j < 2; j++) {
            for (size_t k = 0; k < line->count; k++)
                printf("%02x", line->bytes[j][k]);
            printf(" ");
        }
        printf("%d\n", line->is_freed);
    }
    return 0;
}

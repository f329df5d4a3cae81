// The containers and buffers that everything stands on.
#include "util/arena.h"
#include "util/buffer.h"
#include "util/map.h"
#include "util/vector.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPECT(condition)                                                                          \
    ((condition) ? (void)0 : (printf("%s:%d: %s\n", __FILE__, __LINE__, #condition), exit(1)))

static void test_arena(void) {
    struct arena arena = {0};
    char *first = arena_alloc(&arena, 3);
    for (int i = 0; i < 3; i++)
        EXPECT(first[i] == 0);
    memset(first, 'x', 3);
    for (size_t size = 1; size < 300000; size = size * 3 + 1) {
        char *memory = arena_alloc(&arena, size);
        EXPECT((size_t)memory % _Alignof(max_align_t) == 0);
        EXPECT(memory[0] == 0 && memory[size - 1] == 0);
        memset(memory, 'y', size);
    }
    EXPECT(first[0] == 'x' && first[2] == 'x');
    EXPECT(strcmp(arena_print(&arena, "%d-%s", 7, "seven"), "7-seven") == 0);
    EXPECT(strcmp(arena_copy(&arena, "abcdef", 3), "abc") == 0);
    arena_release(&arena);
    EXPECT(*(char *)arena_alloc(&arena, 1) == 0);
    arena_release(&arena);
}

static void test_vector(void) {
    struct arena arena = {0};
    VECTOR(int) numbers = {0};
    for (int i = 0; i < 1000; i++)
        vector_push(&arena, &numbers, i * 3);
    EXPECT(numbers.count == 1000);
    for (int i = 0; i < 1000; i++)
        EXPECT(numbers.data[i] == i * 3);
    arena_release(&arena);
}

static void test_map(void) {
    struct arena arena = {0};
    struct map map = {0};
    EXPECT(map_find(&map, "k", 1) == NULL);
    for (uint32_t i = 0; i < 5000; i++) {
        char *key = arena_print(&arena, "key%u", i);
        EXPECT(*map_add(&arena, &map, key, strlen(key), i) == i);
        EXPECT(*map_add(&arena, &map, key, strlen(key), 99999) == i);
    }
    EXPECT(map.count == 5000);
    for (uint32_t i = 0; i < 5000; i++) {
        char *key = arena_print(&arena, "key%u", i);
        EXPECT(*map_find(&map, key, strlen(key)) == i);
    }
    EXPECT(map_find(&map, "key", 3) == NULL);
    EXPECT(map_find(&map, "key5000", 7) == NULL);
    EXPECT(*map_add(&arena, &map, "", 0, 5) == 5);
    for (uint64_t i = 0; i < 10; i++) { /* the key of the last turn is gone */
        uint64_t key = i / 2;
        EXPECT(*map_add_copy(&arena, &map, &key, sizeof key, (uint32_t)i) == i / 2 * 2);
    }
    EXPECT(map.count == 5006);
    arena_release(&arena);
}

static void test_buffer(void) {
    static const struct {
        unsigned long long value;
        const char *bytes;
        size_t count;
    } numbers[] = {
        {0, "\0", 1},
        {127, "\x7f", 1},
        {128, "\x80\1", 2},
        {624485, "\xe5\x8e\x26", 3}, /* the example of DWARF 5, appendix C */
        {~0ULL, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\1", 10},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct buffer buffer = {0};
        buffer_uleb128(&buffer, numbers[i].value);
        EXPECT(buffer.count == numbers[i].count);
        EXPECT(memcmp(buffer.data, numbers[i].bytes, buffer.count) == 0);
        buffer_release(&buffer);
    }
    struct buffer buffer = {0};
    for (int i = 0; i < 500; i++)
        buffer_print(&buffer, "%03d,", i);
    buffer_text(&buffer, "end");
    EXPECT(buffer.count == 2003 && strcmp(buffer.data + 2000, "end") == 0);
    buffer_release(&buffer);
    EXPECT(!buffer_read_file(&buffer, "/nowhere/at/all"));
    EXPECT(buffer_read_file(&buffer, "/proc/self/cmdline") && buffer.count > 0);
    buffer_release(&buffer);
}

int main(void) {
    test_arena();
    test_vector();
    test_map();
    test_buffer();
    return 0;
}

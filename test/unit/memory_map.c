// The mappings of a process: their addresses, rights, offsets and paths, the newline in a path
// included, which the kernel writes as an escape.
#include "util/memory_map.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define PAGE 4096
#define EXPECT(condition)                                                                          \
    ((condition) ? (void)0 : (printf("%s:%d: %s\n", __FILE__, __LINE__, #condition), exit(1)))

static struct memory_map map;

/* Returns the mapping that has ADDRESS; its path is valid until the next call. */
static struct memory_mapping find(const void *address) {
    struct memory_mapping mapping;
    memory_map_close(&map);
    EXPECT(memory_map_open(&map, getpid()));
    while (memory_map_next(&map, &mapping))
        if ((uint64_t)address - mapping.start < mapping.end - mapping.start)
            return mapping;
    EXPECT(!"found");
    return mapping;
}

static bool ends_with(const char *text, const char *end) {
    return strlen(text) >= strlen(end) && strcmp(text + strlen(text) - strlen(end), end) == 0;
}

static void test_file(void) {
    static const char name[] = "a [strange]\nname\\012";
    int file = open(name, O_RDWR | O_CREAT, 0600);
    EXPECT(file >= 0 && ftruncate(file, 3 * PAGE) == 0);
    char *at = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, file, 2 * PAGE);
    EXPECT(at != MAP_FAILED);
    struct memory_mapping mapping = find(at);
    EXPECT(mapping.start == (uint64_t)at && mapping.end == (uint64_t)at + PAGE);
    EXPECT(mapping.offset == 2 * PAGE && mapping.protection == PROT_READ);
    struct stat status;
    EXPECT(fstat(file, &status) == 0 && mapping.inode == status.st_ino);
    EXPECT(mapping.device >> 32 == major(status.st_dev));
    EXPECT((uint32_t)mapping.device == minor(status.st_dev));
    EXPECT(mapping.is_shared && mapping.is_file);
    EXPECT(*mapping.path == '/' && strstr(mapping.path, "/a [strange]\nname"));
    EXPECT(unlink(name) == 0 && close(file) == 0);
    EXPECT(ends_with(find(at).path, " (deleted)"));
}

static void test_other_memory(void) {
    int local = 0;
    struct memory_mapping mapping = find(&local);
    EXPECT(strcmp(mapping.path, "[stack]") == 0 && !mapping.is_file && !mapping.is_shared);
    EXPECT(mapping.protection == (PROT_READ | PROT_WRITE));
    EXPECT(find((void *)test_file).protection == (PROT_READ | PROT_EXEC));
    void *none = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mapping = find(none);
    EXPECT(mapping.protection == PROT_NONE && !mapping.is_file && *mapping.path == '\0');
}

static void test_bad_lines(void) {
    static const char *const lines[] = {
        "", "\n", "xyz", "1000", "1000-2000", "1000-2000 r\n", "VmFlags: rd wr"};
    struct memory_mapping mapping;
    char text[64];
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        snprintf(text, sizeof text, "%s", lines[i]);
        EXPECT(!read_memory_mapping(text, &mapping));
    }
    snprintf(text, sizeof text, "1000-2000 rw-p 00003000 00:00 0");
    EXPECT(read_memory_mapping(text, &mapping) && mapping.offset == 0x3000 && mapping.inode == 0 &&
           !*mapping.path);
    EXPECT(!memory_map_open(&map, -1) && !memory_map_next(&map, &mapping));
    EXPECT(!memory_map_close(&map));
}

int main(void) {
    test_file();
    test_other_memory();
    memory_map_close(&map);
    test_bad_lines();
    return 0;
}

// Preloaded into any program: in front of every EVERY-th read, write, close and getppid it hashes
// all registers that a function must keep and all memory that the program may write, and tells the
// hash on standard error.  It shares nothing with quipu.
#define _GNU_SOURCE
#include <fcntl.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    EVERY = 2,
    ROOM = 1 << 17
};

/* Its own memory, which is not hashed. */
static char maps[ROOM] __attribute__((aligned(4096)));
static unsigned calls;
static int looking; /* in a thread */

static uint64_t hash_range(uint64_t hash, uint64_t start, uint64_t end) {
    for (; start + 8 <= end; start += 8) {
        hash = (hash ^ *(const uint64_t *)start) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    return hash;
}

static void read_maps(void) {
    size_t size = 0;
    ssize_t count;
    int file = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY);
    while ((count = syscall(SYS_read, file, maps + size, sizeof maps - 1 - size)) > 0)
        size += (size_t)count;
    maps[size] = '\0';
    syscall(SYS_close, file);
}

static void look(void) {
    char line[128];
    jmp_buf registers;
    uint64_t own = (uint64_t)maps, hash = 1, size = 0;
    setjmp(registers); /* on the stack, so they are hashed */
    read_maps();
    for (char *at = maps; *at; at = strchr(at, '\n') + 1) {
        char *flags;
        uint64_t start = strtoull(at, &flags, 16), end = strtoull(flags + 1, &flags, 16);
        if (flags[1] != 'r' || flags[2] != 'w')
            continue;
        size += end - start;
        if (start < own + ROOM && own < end) {
            hash = hash_range(hash, start, own);
            start = own + ROOM;
        }
        hash = hash_range(hash, start, end);
    }
    int length = snprintf(line, sizeof line, "look %u: %llu bytes, %llx\n", calls,
                          (unsigned long long)size, (unsigned long long)hash);
    syscall(SYS_write, STDERR_FILENO, line, length);
}

static void count_call(void) {
    if (calls++ % EVERY || __atomic_exchange_n(&looking, 1, __ATOMIC_ACQ_REL))
        return;
    look();
    __atomic_store_n(&looking, 0, __ATOMIC_RELEASE);
}

ssize_t read(int file, void *bytes, size_t size) {
    count_call();
    return syscall(SYS_read, file, bytes, size);
}

ssize_t write(int file, const void *bytes, size_t size) {
    count_call();
    return syscall(SYS_write, file, bytes, size);
}

int close(int file) {
    count_call();
    return (int)syscall(SYS_close, file);
}

pid_t getppid(void) {
    count_call();
    return (pid_t)syscall(SYS_getppid);
}

__attribute__((destructor)) static void end(void) {
    look();
}

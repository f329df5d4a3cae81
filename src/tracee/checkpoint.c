/* checkpoint.c: copies of a stopped process; see checkpoint.h.
 *
 * quipu makes the process fork by an injected system call. The child becomes our child, not the
 * program's, so the program never sees it end. A fork copies only pages that are written later. So
 * a copy costs its page tables, and the pages that change.
 *
 * All files of the copy except the standard ones are closed. Linux before 5.9 has no call for that.
 * There they stay open, and a process that waits for the end of a pipe may wait for ever.
 *
 * Mappings that are shared with other processes or files, such as the cells, stay shared over a
 * fork. In the copy they are replaced by private memory with the same contents. */
#include "tracee/checkpoint.h"

#include "util/vector.h"
#include "x86/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define SHARED_MAX ((uint64_t)1 << 30)

struct mapping {
    uint64_t start, end;
    int protection;
};

typedef VECTOR(struct mapping) mapping_list;

/* Lists the mappings of PROCESS that are shared and writable. */
static bool read_shared(struct arena *arena, pid_t process, mapping_list *list) {
    char path[64], *line = NULL;
    size_t room = 0;
    snprintf(path, sizeof path, "/proc/%d/maps", (int)process);
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    while (getline(&line, &room, file) > 0) {
        char *end;
        struct mapping mapping = {.start = strtoull(line, &end, 16)};
        mapping.end = strtoull(end + 1, &end, 16);
        if (strlen(end) < 5 || end[2] != 'w' || end[4] != 's')
            continue;
        mapping.protection =
            (end[1] == 'r' ? PROT_READ : 0) | PROT_WRITE | (end[3] == 'x' ? PROT_EXEC : 0);
        vector_push(arena, list, mapping);
    }
    free(line);
    fclose(file);
    return true;
}

/* Replaces a shared mapping by private memory. Memory behind the end of a mapped file cannot be
 * read, and has no contents to keep. */
static bool take_over(pid_t process, uint64_t site, const struct mapping *mapping) {
    size_t size = mapping->end - mapping->start;
    uint8_t *bytes = size <= SHARED_MAX ? malloc(size) : NULL;
    struct iovec here = {bytes, size}, there = {(void *)mapping->start, size};
    if (!bytes)
        return false;
    ssize_t count = process_vm_readv(process, &here, 1, &there, 1, 0);
    const uint64_t arguments[6] = {mapping->start,
                                   size,
                                   (uint64_t)mapping->protection,
                                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
                                   UINT64_MAX,
                                   0};
    bool good = inject_call(process, site, SYS_mmap, arguments, NULL) == (int64_t)mapping->start;
    here.iov_len = there.iov_len = count > 0 ? (size_t)count : 0;
    if (good && count > 0)
        good = process_vm_writev(process, &here, 1, &there, 1, 0) == count;
    free(bytes);
    return good;
}

static bool own_memory(pid_t process, uint64_t site) {
    struct arena arena = {0};
    mapping_list list = {0};
    bool good = read_shared(&arena, process, &list);
    for (size_t i = 0; i < list.count; i++)
        good = good && take_over(process, site, &list.data[i]);
    arena_release(&arena);
    return good;
}

/* A copy gets the results of its system calls from the log, so it needs no files. The reader of a
 * pipe or socket waits until the last process has closed the other end. So the copy must not keep
 * it open. */
static void close_files(pid_t process, uint64_t site) {
    const uint64_t arguments[6] = {STDERR_FILENO + 1, UINT32_MAX};
    inject_call(process, site, SYS_close_range, arguments, NULL);
}

const char *copy_process(struct arena *arena, pid_t process, uint64_t site, pid_t *copy) {
    const uint64_t arguments[6] = {CLONE_PARENT | SIGCHLD};
    *copy = 0;
    int64_t made = inject_call(process, site, SYS_clone, arguments, copy);
    if (made < 0 || !*copy) {
        drop_process(copy);
        return arena_print(arena, "no checkpoint can be made: %s",
                           strerror(made < 0 ? (int)-made : EIO));
    }
    close_files(*copy, site);
    if (own_memory(*copy, site))
        return NULL;
    drop_process(copy);
    return "no checkpoint can be made: the memory that it shares cannot be copied";
}

void drop_process(pid_t *copy) {
    int status;
    if (!*copy)
        return;
    kill(*copy, SIGKILL);
    while (waitpid(*copy, &status, __WALL) == *copy && WIFSTOPPED(status))
        ;
    *copy = 0;
}

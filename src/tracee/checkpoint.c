/* checkpoint.c: copies of a stopped process; see checkpoint.h.
 *
 * quipu makes the process fork by an injected system call. The child becomes our child, not the
 * program's, so the program never sees it end. A fork copies only pages that are written later. So
 * a copy costs its page tables, and the pages that change.
 *
 * All files of the copy except the standard ones are closed. Linux before 5.9 has no call for that.
 * There they stay open, and a process that waits for the end of a pipe may wait for ever.
 *
 * A fork does not copy all memory. The copy gets the rest of it afterwards, with the same contents:
 *   - Mappings that are shared with other processes or files, such as the cells, stay shared. In
 *     the copy they are replaced by private memory.
 *   - Pages that the kernel clears in a child (MADV_WIPEONFORK) are filled again. A program, or the
 *     runtime, recognizes by them that it is a forked child, which the copy is not.
 *   - Mappings that a child does not get (MADV_DONTFORK) are made as private memory.
 * Not perfect: a kernel without /proc/PID/smaps does not tell the last two. */
#include "tracee/checkpoint.h"

#include "tracee/tracee.h"
#include "util/memory_map.h"
#include "util/vector.h"
#include "x86/kernel.h"

#include <dirent.h>
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

#define COPIED_MAX ((uint64_t)1 << 30)

struct mapping {
    uint64_t start, end;
    int protection;
    bool shared;  /* and writable */
    bool wiped;   /* empty in a child */
    bool missing; /* in a child */
};

typedef VECTOR(struct mapping) mapping_list;
typedef VECTOR(pid_t) pid_list;

/* Reads the first line about a mapping. */
static struct mapping read_mapping(char *line) {
    struct memory_mapping found;
    if (!read_memory_mapping(line, &found))
        return (struct mapping){0};
    return (struct mapping){.start = found.start,
                            .end = found.end,
                            .protection = found.protection,
                            .shared = found.is_shared && found.protection & PROT_WRITE};
}

/* Opens the list of the mappings of PROCESS, with their flags if the kernel has those. */
static FILE *open_mappings(pid_t process) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/smaps", (int)process);
    FILE *file = fopen(path, "re");
    if (file)
        return file;
    snprintf(path, sizeof path, "/proc/%d/maps", (int)process);
    return fopen(path, "re");
}

static bool is_uncopied(const struct mapping *mapping) {
    return mapping->shared || mapping->wiped || mapping->missing;
}

/* Lists the mappings of PROCESS that a fork does not copy. */
static bool read_uncopied(struct arena *arena, pid_t process, mapping_list *list) {
    static const char flags[] = "VmFlags:";
    struct mapping mapping = {0};
    char *line = NULL;
    size_t room = 0;
    FILE *file = open_mappings(process);
    if (!file)
        return false;
    for (bool more = true; more;) {
        more = getline(&line, &room, file) > 0;
        bool is_first = more && !(*line >= 'A' && *line <= 'Z');
        if (more && strncmp(line, flags, strlen(flags)) == 0) {
            mapping.wiped = strstr(line, " wf");
            mapping.missing = strstr(line, " dc");
        }
        if ((is_first || !more) && is_uncopied(&mapping))
            vector_push(arena, list, mapping);
        if (is_first)
            mapping = read_mapping(line);
    }
    free(line);
    fclose(file);
    return true;
}

/* Makes private memory of COPY out of MAPPING. */
static bool make_private(pid_t copy, uint64_t site, const struct mapping *mapping) {
    const uint64_t arguments[6] = {mapping->start,
                                   mapping->end - mapping->start,
                                   (uint64_t)mapping->protection,
                                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
                                   UINT64_MAX,
                                   0};
    return inject_call(copy, site, SYS_mmap, arguments, NULL) == (int64_t)mapping->start;
}

/* Gives COPY the contents of MAPPING in PROCESS. Memory behind the end of a mapped file cannot be
 * read, and has no contents. */
static bool copy_contents(pid_t process, pid_t copy, const struct mapping *mapping) {
    size_t size = mapping->end - mapping->start;
    uint8_t *bytes = size && size <= COPIED_MAX ? malloc(size) : NULL;
    struct iovec here = {bytes, size}, there = {(void *)mapping->start, size};
    if (!bytes)
        return false;
    ssize_t count = process_vm_readv(process, &here, 1, &there, 1, 0);
    bool good = count <= 0 || write_memory(copy, mapping->start, bytes, (size_t)count);
    free(bytes);
    return good;
}

/* Gives COPY what the fork of PROCESS did not. */
static bool complete_copy(pid_t process, pid_t copy, uint64_t site) {
    struct arena arena = {0};
    mapping_list list = {0};
    bool good = read_uncopied(&arena, process, &list);
    for (size_t i = 0; i < list.count && good; i++) {
        const struct mapping *mapping = &list.data[i];
        good = (!(mapping->shared || mapping->missing) || make_private(copy, site, mapping)) &&
               copy_contents(process, copy, mapping);
    }
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
    if (complete_copy(process, *copy, site))
        return NULL;
    drop_process(copy);
    return "no checkpoint can be made: its memory cannot be copied";
}

/* Lists the threads of the process that has the thread NUMBER. */
static void read_threads(struct arena *arena, pid_t number, pid_list *list) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", (int)number);
    DIR *directory = opendir(path);
    for (const struct dirent *entry; directory && (entry = readdir(directory));)
        if (entry->d_name[0] != '.')
            vector_push(arena, list, (pid_t)strtol(entry->d_name, NULL, 10));
    if (directory)
        closedir(directory);
}

static void await_end(pid_t number) {
    int status;
    while (waitpid(number, &status, __WALL) == number && WIFSTOPPED(status))
        ;
}

/* The end of the first thread is told when all others have been waited for. */
void drop_process(pid_t *copy) {
    struct arena arena = {0};
    pid_list threads = {0};
    if (!*copy)
        return;
    read_threads(&arena, *copy, &threads);
    kill(*copy, SIGKILL);
    for (size_t i = threads.count; i > 1; i--)
        await_end(threads.data[i - 1]);
    await_end(threads.count ? threads.data[0] : *copy);
    arena_release(&arena);
    *copy = 0;
}

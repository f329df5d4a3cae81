/* record_mapping.c: mappings of files in a recorded process; see record.h.
 *
 * A replay has no files. It gets the contents of a mapping as they were when it was mapped. So
 * nobody may change them later:
 *   - Private mappings, and shared ones that are only read and whose file the process has opened
 *     only to read, are taken to stay as they are.
 *   - Shared mappings that may be written, or whose file the process may write, end the recording.
 *     The exception is the data file of a program that quipu has built: only this process writes
 *     it, and never what it has mapped elsewhere.
 *
 * Not perfect: a file that others change while it is mapped is not noticed. The replay may then
 * differ, and says so. Pages behind the end of a file are zero in a replay, and cause no SIGBUS. */
#include "replay/record.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
    PIECE = QUIPU_RECORDING_MEMORY_MAX,
    TYPE_MASK = MAP_TYPE
};

static bool maps_file(const struct system_call *call) {
    return call->number == SYS_mmap && !(call->arguments[3] & MAP_ANONYMOUS);
}

static bool is_shared(const struct system_call *call) {
    uint64_t type = call->arguments[3] & TYPE_MASK;
    return type == MAP_SHARED || type == MAP_SHARED_VALIDATE;
}

/* Returns the name by which quipu opens descriptor FD of the process. */
static const char *link_of(const struct recorded_thread *thread, int fd) {
    return arena_print(thread->recorder->arena, "/proc/%d/fd/%d", (int)thread->number, fd);
}

/* Returns the path of descriptor FD of the process, or "". */
static const char *path_of(const struct recorded_thread *thread, int fd) {
    char path[PATH_MAX];
    ssize_t size = readlink(link_of(thread, fd), path, sizeof path);
    return arena_copy(thread->recorder->arena, path, size > 0 ? (size_t)size : 0);
}

/* Whether the process has opened the file only to read it. */
static bool is_opened_to_read(const struct recorded_thread *thread, int fd) {
    char path[64], *line = NULL;
    static const char key[] = "flags:";
    size_t room = 0;
    bool reads = false;
    snprintf(path, sizeof path, "/proc/%d/fdinfo/%d", (int)thread->number, fd);
    FILE *file = fopen(path, "re");
    while (file && getline(&line, &room, file) > 0)
        if (strncmp(line, key, strlen(key)) == 0)
            reads = (strtoul(line + strlen(key), NULL, 8) & O_ACCMODE) == O_RDONLY;
    free(line);
    if (file)
        fclose(file);
    return reads;
}

static bool is_regular(const struct recorded_thread *thread, int fd) {
    struct stat status;
    return stat(link_of(thread, fd), &status) == 0 && S_ISREG(status.st_mode);
}

/* Whether PATH is that of the process's own data file, DIRECTORY/PROGRAM.PID.quipu, as the runtime
 * names it. */
static bool is_own_data(const struct recorded_thread *thread, const char *path) {
    static const char end[] = ".quipu";
    char number[32];
    size_t length = strlen(path);
    snprintf(number, sizeof number, ".%d.", (int)thread->process->number);
    return length > sizeof end && strcmp(path + length - (sizeof end - 1), end) == 0 &&
           strstr(path, number);
}

const char *refuse_mapping(struct recorded_thread *thread) {
    const struct system_call *call = &thread->call;
    int fd = (int)call->arguments[4];
    if (!maps_file(call) || fd < 0)
        return NULL;
    const char *path = path_of(thread, fd);
    if (!*path)
        return NULL; /* the call fails */
    if (!is_regular(thread, fd))
        return arena_print(thread->recorder->arena, "it maps '%s', which is not a file", path);
    if (!is_shared(call) || is_own_data(thread, path))
        return NULL;
    if (call->arguments[2] & PROT_WRITE || !is_opened_to_read(thread, fd))
        return arena_print(thread->recorder->arena, "its mapping of '%s' is shared with others",
                           path);
    return NULL;
}

/* Returns the bytes at BYTES without zeros at their end. */
static size_t without_zeros(const uint8_t *bytes, size_t size) {
    while (size && bytes[size - 1] == 0)
        size--;
    return size;
}

void record_mapping(struct recorded_thread *thread) {
    static uint8_t bytes[PIECE];
    uint64_t address = (uint64_t)thread->call.result, left = thread->call.arguments[1];
    if (thread->call.number == SYS_mmap && is_shared(&thread->call) && !maps_file(&thread->call))
        thread->process->shares_pages = true;
    if (!maps_file(&thread->call))
        return;
    bool is_code = thread->call.arguments[2] & PROT_EXEC;
    while (left) {
        size_t size = left < PIECE ? left : PIECE;
        struct iovec here = {bytes, size};
        char path[64];
        snprintf(path, sizeof path, "/proc/%d/mem", (int)thread->number);
        int fd = open(path, O_RDONLY | O_CLOEXEC); /* it also reads what has no PROT_READ */
        ssize_t count = fd < 0 ? -1 : preadv(fd, &here, 1, (off_t)address);
        if (fd >= 0)
            close(fd);
        if (count <= 0)
            break; /* behind the end of the file */
        size_t kept = without_zeros(bytes, (size_t)count);
        add_recorded_memory(thread, address, bytes, kept, NULL);
        address += (size_t)count;
        left -= (size_t)count;
    }
    if (is_code)
        replace_counter_reads(thread, link_of(thread, (int)thread->call.arguments[4]),
                              (uint64_t)thread->call.result, thread->call.arguments[1],
                              thread->call.arguments[5]);
}

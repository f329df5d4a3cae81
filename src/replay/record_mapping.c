/* record_mapping.c: mappings of files in a recorded process; see record.h.
 *
 * A replay has no files. It gets the contents of a mapping as they were when it was mapped. So
 * nobody may change them later:
 *   - Private mappings, and shared ones that are only read and whose file the process has opened
 *     only to read, are taken to stay as they are.
 *   - Shared mappings of a file that belongs to the recording: record_shared.c.
 *   - Other shared mappings that may be written, or whose file the process may write, end the
 *     recording. The exception is the data file of a program that quipu has built: only this
 *     process writes it, and never what it has mapped elsewhere.
 *
 * Not perfect: a file that others change while it is mapped is not noticed. The replay may then
 * differ, and says so. Pages behind the end of a file are zero in a replay, and cause no SIGBUS. */
#include "replay/record.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#ifndef MQUEUE_MAGIC
#define MQUEUE_MAGIC 0x19800202
#endif
#ifndef PID_FS_MAGIC
#define PID_FS_MAGIC 0x50494446
#endif

enum {
    PAGE = 4096,
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
static const char *link_of(struct recorded_thread *thread, int fd) {
    return arena_print(&thread->effects.arena, "/proc/%d/fd/%d", (int)thread->number, fd);
}

/* Returns the path of descriptor FD of the process, or "". */
static const char *path_of(struct recorded_thread *thread, int fd) {
    char path[PATH_MAX];
    ssize_t size = readlink(link_of(thread, fd), path, sizeof path);
    return arena_copy(&thread->effects.arena, path, size > 0 ? (size_t)size : 0);
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

/* Whether no such descriptor can be mapped, so that the call fails. */
static bool is_never_mapped(struct recorded_thread *thread, int fd) {
    static const char *const names[] = {"[eventfd]",  "[eventpoll]", "inotify",
                                        "[signalfd]", "[timerfd]",   "[fanotify]",
                                        "[pidfd]",    "[fscontext]", "[landlock-ruleset]"};
    static const char anonymous[] = "anon_inode:";
    const char *path = path_of(thread, fd);
    struct stat status;
    struct statfs system;
    if (stat(link_of(thread, fd), &status) != 0)
        return false;
    if (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode) || S_ISDIR(status.st_mode))
        return true;
    if (S_ISREG(status.st_mode)) /* as queues of messages, processes and namespaces are */
        return statfs(link_of(thread, fd), &system) == 0 &&
               (system.f_type == MQUEUE_MAGIC || system.f_type == PID_FS_MAGIC ||
                system.f_type == NSFS_MAGIC);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(path, anonymous, strlen(anonymous)) == 0 &&
            strcmp(path + strlen(anonymous), names[i]) == 0)
            return true;
    return false;
}

static bool is_regular(struct recorded_thread *thread, int fd) {
    struct stat status;
    return stat(link_of(thread, fd), &status) == 0 && S_ISREG(status.st_mode);
}

/* Whether it is /dev/zero, of which each mapping is memory of its own. */
static bool is_zero_device(struct recorded_thread *thread, int fd) {
    struct stat status;
    return stat(link_of(thread, fd), &status) == 0 && S_ISCHR(status.st_mode) &&
           status.st_rdev == makedev(1, 5);
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
    thread->maps = 0;
    if (!maps_file(call) || fd < 0)
        return NULL;
    const char *path = path_of(thread, fd);
    if (!*path || is_never_mapped(thread, fd))
        return NULL; /* the call fails */
    if (is_zero_device(thread, fd)) {
        thread->maps = is_shared(call) ? share_memory(thread) : 0;
        if (thread->maps || !is_shared(call))
            return NULL;
    }
    if (!is_regular(thread, fd))
        return arena_print(thread->recorder->arena, "it maps '%s', which is not a file", path);
    if (!is_shared(call) || is_own_data(thread, path))
        return NULL;
    thread->maps = share_file(thread, link_of(thread, fd), path);
    if (thread->maps)
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

/* Returns the number of bytes that can be read at PLACE of the file at PATH. */
static size_t read_file(const char *path, uint64_t place, uint8_t *bytes, size_t size) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t count = fd < 0 ? -1 : pread(fd, bytes, size, (off_t)place);
    if (fd >= 0)
        close(fd);
    return count > 0 ? (size_t)count : 0;
}

static uint32_t add_contents(struct recorded_thread *thread, const uint8_t *bytes, size_t size) {
    struct recorder *recorder = thread->recorder;
    struct buffer *event = recording_event(&recorder->writer);
    vector_push(recorder->arena, &recorder->contents, size);
    buffer_uleb128(event, recorder->contents.count);
    buffer_add(event, bytes, size);
    add_recorded_event(thread, QUIPU_EVENT_CONTENTS);
    return (uint32_t)recorder->contents.count;
}

/* Sets NUMBER to that of the contents that begin at OFFSET of the file at PATH, 0 if they are
 * zeros. Adds them if that was not done yet. Returns false if the file may change, or cannot be
 * read. */
static bool find_contents(struct recorded_thread *thread, const char *path, uint64_t offset,
                          uint32_t *number) {
    static uint8_t bytes[PIECE];
    struct known_parts *pieces = &thread->recorder->pieces;
    struct file_part part;
    if (!describe_part(path, offset, PIECE, &part))
        return false;
    const uint32_t *known = find_part(pieces, &part);
    if (known) {
        *number = *known;
        return true;
    }
    size_t size = read_file(path, offset, bytes, PIECE);
    if (!size)
        return false;
    size = without_zeros(bytes, size);
    *number = size ? add_contents(thread, bytes, size) : 0;
    add_part(pieces, &part, *number);
    return true;
}

/* Adds SIZE bytes that are mapped at ADDRESS, from PLACE in the contents NUMBER. */
static void add_reference(struct recorded_thread *thread, uint64_t address, size_t size,
                          uint32_t number, uint64_t place) {
    struct recorder *recorder = thread->recorder;
    size_t all = number ? *vector_at(&recorder->contents, number - 1) : 0;
    if (place >= all)
        return;
    struct buffer *event = recording_event(&recorder->writer);
    put_number(event, QUIPU_MEMORY_CONTENTS, 1);
    put_number(event, address, sizeof address);
    buffer_uleb128(event, number);
    buffer_uleb128(event, place);
    buffer_uleb128(event, size < all - place ? size : all - place);
    add_recorded_event(thread, QUIPU_EVENT_MEMORY);
}

/* Adds SIZE bytes that are mapped at ADDRESS from OFFSET of the file at PATH. */
static void record_piece(struct recorded_thread *thread, uint64_t address, size_t size,
                         const char *path, uint64_t offset) {
    static uint8_t bytes[PIECE];
    uint64_t place = offset % PIECE;
    uint32_t number;
    char memory[64];
    if (!thread->maps && find_contents(thread, path, offset - place, &number)) {
        add_reference(thread, address, size, number, place);
        return;
    }
    /* this also reads what has no PROT_READ */
    snprintf(memory, sizeof memory, "/proc/%d/mem", (int)thread->number);
    size = read_file(memory, address, bytes, size);
    if (!thread->maps) /* what is shared may have had other bytes in a replay */
        size = without_zeros(bytes, size);
    add_recorded_memory(thread, address, bytes, size, NULL);
}

/* Adds what is mapped at ADDRESS from OFFSET to END of the file at PATH. */
static void record_pieces(struct recorded_thread *thread, uint64_t address, const char *path,
                          uint64_t offset, uint64_t end) {
    for (uint64_t size; offset < end; offset += size, address += size) {
        size = PIECE - offset % PIECE;
        size = end - offset < size ? end - offset : size;
        record_piece(thread, address, size, path, offset);
    }
}

/* Sets FROM and TO to the next data between *FROM and END of the file FD: the rest of a sparse file
 * is zeros. Returns false if there are none. */
static bool next_data(int fd, uint64_t *from, uint64_t *to, uint64_t end) {
    off_t data = lseek(fd, (off_t)*from, SEEK_DATA);
    off_t hole = data < 0 ? -1 : lseek(fd, data, SEEK_HOLE);
    if (data < 0 && errno == ENXIO)
        return false;
    *from = data < 0 ? *from : (uint64_t)data;
    *to = hole < 0 || (uint64_t)hole > end ? end : (uint64_t)hole;
    return *from < end;
}

static void record_contents(struct recorded_thread *thread, const char *path) {
    const uint64_t *arguments = thread->call.arguments;
    uint64_t address = (uint64_t)thread->call.result, start = arguments[5];
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool is_sparse = fd >= 0 && fstat(fd, &status) == 0 && status.st_size > PIECE &&
                     status.st_blocks * 512 < status.st_size;
    if ((fd < 0 && stat(path, &status) != 0) || (uint64_t)status.st_size <= start) {
        if (fd >= 0)
            close(fd);
        return;
    }
    uint64_t left = (uint64_t)status.st_size - start, to;
    uint64_t size = (arguments[1] + PAGE - 1) / PAGE * PAGE; /* all of the last page is there */
    uint64_t end = start + (left < size ? left : size);
    bool is_whole = start == 0 && left <= size;
    if (is_sparse && thread->maps && is_whole)
        record_shared_end(thread, thread->maps, 0);
    if (is_sparse && (!thread->maps || is_whole))
        for (uint64_t from = start; next_data(fd, &from, &to, end); from = to)
            record_pieces(thread, address + (from - start), path, from, to);
    else
        record_pieces(thread, address, path, start, end);
    if (fd >= 0)
        close(fd);
}

/* Whether the program reads the code that it maps, instead of executing it, as valgrind does, so
 * that nothing may be replaced there. A static program maps a dynamic one's code then, with its
 * loader. C libraries that load code for a static program map it with a flag that means nothing to
 * the kernel. */
static bool interprets_code(struct recorded_thread *thread) {
    struct recorded_process *process = thread->process;
    process->interprets |= process->is_static && !(thread->call.arguments[3] & MAP_DENYWRITE);
    return process->interprets;
}

void record_mapping(struct recorded_thread *thread) {
    const uint64_t *arguments = thread->call.arguments;
    if (thread->call.number == SYS_mmap && is_shared(&thread->call) && !maps_file(&thread->call))
        thread->process->shares_pages = true;
    if (!maps_file(&thread->call))
        return;
    const char *path = link_of(thread, (int)arguments[4]);
    if (thread->maps)
        record_shared(thread);
    if (!is_regular(thread, (int)arguments[4]))
        return;
    record_file(thread, path, path_of(thread, (int)arguments[4]));
    record_contents(thread, path);
    if (arguments[2] & PROT_EXEC && !interprets_code(thread))
        replace_counter_reads(thread, path, (uint64_t)thread->call.result, arguments[1],
                              arguments[5]);
}

void keep_program(struct recorded_thread *thread, struct start *start) {
    static uint8_t bytes[PIECE];
    const char *path = arena_print(&thread->effects.arena, "/proc/%d/exe", (int)thread->number);
    struct statx status;
    if (statx(AT_FDCWD, path, 0, STATX_SIZE | STATX_NLINK | STATX_BTIME, &status) != 0)
        return;
    bool is_gone = status.stx_nlink == 0; /* it has no path, as a memfd has none */
    bool is_new =
        status.stx_mask & STATX_BTIME &&
        is_made_since_begin(thread->recorder, status.stx_btime.tv_sec, status.stx_btime.tv_nsec);
    if (!is_gone && !is_new)
        return;
    for (uint64_t done = 0; done < status.stx_size; done += PIECE) {
        size_t size = without_zeros(bytes, read_file(path, done, bytes, PIECE));
        uint32_t number = size ? add_contents(thread, bytes, size) : 0;
        vector_push(&thread->process->arena, &start->pieces, number);
    }
    start->file_size = status.stx_size;
}

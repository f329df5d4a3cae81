/* host_file.c: lets the client read files, where it looks for symbols; see session.h. gdb's manual,
 * "Host I/O Packets". Nothing is written.
 *
 * They are those of the recording, as far as it has them. If it is packed, this machine's files are
 * others; the client gets no more than debug information of them, which names what it belongs to.
 * Otherwise they are those of this machine. */
#include "debug/session.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    FILES_MAX = 64,
    STATUS_SIZE = 64, /* of the protocol's struct stat */
    UNKNOWN_ERROR = 9999
};

/* The descriptors that the client has opened. */
static int files[FILES_MAX];
static size_t file_count;

/* The protocol's numbers of errors are those of Linux where both have them. */
static void answer_failure(struct session *session) {
    int number = errno == ENAMETOOLONG ? 91 : errno <= EROFS ? errno : UNKNOWN_ERROR;
    buffer_print(&session->answer, "F-1,%x", number);
}

static bool is_open(uint64_t file) {
    for (size_t i = 0; i < file_count; i++)
        if ((uint64_t)files[i] == file)
            return true;
    errno = EBADF;
    return false;
}

/* Takes a path, in digits. */
static bool take_path(const char **text, char path[PATH_MAX]) {
    struct buffer bytes = {0};
    take_bytes(text, &bytes);
    bool good = bytes.count > 0 && bytes.count < PATH_MAX && !memchr(bytes.data, 0, bytes.count);
    if (good) {
        memcpy(path, bytes.data, bytes.count);
        path[bytes.count] = '\0';
    } else {
        errno = EINVAL;
    }
    buffer_release(&bytes);
    return good;
}

/* Whether this machine's file at PATH may be one of the run. */
static bool may_be_here(const struct session *session, const char *path) {
    static const char debug[] = "/usr/lib/debug/";
    return !player_is_packed(session->timeline->player) ||
           strncmp(path, debug, sizeof debug - 1) == 0;
}

/* Returns the part behind "/proc/PID/" of PATH, where that is the recorded process; or NULL. */
static const char *part_of_process(const struct session *session, const char *path) {
    char begin[64];
    int length =
        snprintf(begin, sizeof begin, "/proc/%d/", (int)player_number(session->timeline->player));
    return strncmp(path, begin, (size_t)length) == 0 ? path + length : NULL;
}

/* What 'info proc' shows of the recorded process is what the replayed one has. */
static int open_part(const struct session *session, const char *part) {
    static const char *const known[] = {"cmdline", "maps", "smaps"};
    char path[64];
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(part, known[i]) != 0)
            continue;
        snprintf(path, sizeof path, "/proc/%d/%s", (int)timeline_process(session->timeline), part);
        return open(path, O_RDONLY | O_CLOEXEC);
    }
    errno = ENOENT;
    return -1;
}

/* Returns the descriptor of the file at PATH, or -1 with errno set. */
static int open_file(struct session *session, const char *path) {
    const char *part = part_of_process(session, path);
    if (part)
        return open_part(session, part);
    int file = player_file(session->timeline->player, path);
    if (file < 0 && errno == ENOENT && may_be_here(session, path))
        file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    return file;
}

static void take_open(struct session *session, const char *text) {
    char path[PATH_MAX];
    uint64_t flags = 0;
    bool good = take_path(&text, path) && take_character(&text, ',') && take_number(&text, &flags);
    if (good && (flags || file_count == FILES_MAX)) {
        errno = flags ? EROFS : EMFILE;
        good = false;
    }
    int file = good ? open_file(session, path) : -1;
    if (file < 0) {
        answer_failure(session);
        return;
    }
    files[file_count++] = file;
    buffer_print(&session->answer, "F%x", (unsigned)file);
}

static void take_close(struct session *session, const char *text) {
    uint64_t file = 0;
    if (!take_number(&text, &file) || !is_open(file)) {
        answer_failure(session);
        return;
    }
    for (size_t i = 0; i < file_count; i++)
        if ((uint64_t)files[i] == file)
            files[i] = files[--file_count];
    close((int)file);
    answer_text(session, "F0");
}

static void take_read(struct session *session, const char *text) {
    uint64_t file, size, offset;
    if (!take_number(&text, &file) || !take_character(&text, ',') || !take_number(&text, &size) ||
        !take_character(&text, ',') || !take_number(&text, &offset) || !is_open(file)) {
        answer_failure(session);
        return;
    }
    size = size < PACKET_MAX / 4 ? size : PACKET_MAX / 4;
    char *bytes = malloc(size + 1);
    ssize_t count = bytes ? pread((int)file, bytes, size, (off_t)offset) : -1;
    if (count < 0) {
        answer_failure(session);
    } else {
        buffer_print(&session->answer, "F%zx;", (size_t)count);
        buffer_add(&session->answer, bytes, (size_t)count);
    }
    free(bytes);
}

/* Appends VALUE in SIZE bytes, the highest first. */
static void put(uint8_t **at, uint64_t value, size_t size) {
    while (size--)
        *(*at)++ = (uint8_t)(value >> 8 * size);
}

static void answer_status(struct session *session, const struct stat *status) {
    uint8_t bytes[STATUS_SIZE], *at = bytes;
    put(&at, status->st_dev, 4);
    put(&at, status->st_ino, 4);
    put(&at, status->st_mode, 4);
    put(&at, status->st_nlink, 4);
    put(&at, status->st_uid, 4);
    put(&at, status->st_gid, 4);
    put(&at, status->st_rdev, 4);
    put(&at, (uint64_t)status->st_size, 8);
    put(&at, (uint64_t)status->st_blksize, 8);
    put(&at, (uint64_t)status->st_blocks, 8);
    put(&at, (uint64_t)status->st_atime, 4);
    put(&at, (uint64_t)status->st_mtime, 4);
    put(&at, (uint64_t)status->st_ctime, 4);
    buffer_print(&session->answer, "F%x;", STATUS_SIZE);
    buffer_add(&session->answer, bytes, sizeof bytes);
}

static void take_status(struct session *session, const char *text) {
    uint64_t file = 0;
    struct stat status;
    if (take_number(&text, &file) && is_open(file) && fstat((int)file, &status) == 0)
        answer_status(session, &status);
    else
        answer_failure(session);
}

static void take_path_status(struct session *session, const char *text) {
    char path[PATH_MAX];
    struct stat status;
    int file = take_path(&text, path) ? open_file(session, path) : -1;
    if (file >= 0 && fstat(file, &status) == 0)
        answer_status(session, &status);
    else
        answer_failure(session);
    if (file >= 0)
        close(file);
}

static void take_link(struct session *session, const char *text) {
    char path[PATH_MAX], link[PATH_MAX];
    ssize_t size = -1;
    if (take_path(&text, path)) {
        const char *part = part_of_process(session, path);
        errno = ENOENT;
        if (part && strcmp(part, "exe") == 0)
            size = snprintf(link, sizeof link, "%s", player_program(session->timeline->player));
        else if (!part && may_be_here(session, path))
            size = readlink(path, link, sizeof link);
    }
    if (size < 0) {
        answer_failure(session);
        return;
    }
    buffer_print(&session->answer, "F%zx;", (size_t)size);
    buffer_add(&session->answer, link, (size_t)size);
}

static void take_root(struct session *session, const char *text) {
    (void)text;
    answer_text(session, "F0"); /* there is one */
}

void take_host_file(struct session *session, const char *text) {
    static const struct {
        const char *begin;
        void (*take)(struct session *session, const char *text);
    } operations[] = {
        {"open:", take_open},    {"close:", take_close},      {"pread:", take_read},
        {"fstat:", take_status}, {"stat:", take_path_status}, {"readlink:", take_link},
        {"setfs:", take_root},
    };
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        size_t length = strlen(operations[i].begin);
        if (strncmp(text, operations[i].begin, length) == 0) {
            operations[i].take(session, text + length);
            return;
        }
    }
}

/* warn.c: the only line that the runtime may print.
 *
 * It is written to descriptor 2, but only if that is still the same file as when the constructor
 * ran: a program that has closed it may have its data there. The write must neither block nor raise
 * a signal. The caller has blocked all signals.
 *
 * Not perfect: a program that has redirected its standard error gets no warning. */
#include "format/data_file.h"
#include "runtime/core/state.h"
#include "runtime/core/syscall.h"
#include "runtime/core/text.h"
#include "util/utf8.h"

#include <errno.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>

static const struct {
    int error;
    const char *text;
} errors[] = {
    {EACCES, "Permission denied"},
    {EAGAIN, "Resource temporarily unavailable"},
    {EDQUOT, "Disk quota exceeded"},
    {EEXIST, "File exists"},
    {EFBIG, "File too large"},
    {EINVAL, "Invalid argument"},
    {EIO, "Input/output error"},
    {EISDIR, "Is a directory"},
    {ELOOP, "Too many levels of symbolic links"},
    {EMFILE, "Too many open files"},
    {ENAMETOOLONG, "File name too long"},
    {ENFILE, "Too many open files in system"},
    {ENODEV, "No such device"},
    {ENOENT, "No such file or directory"},
    {ENOMEM, "Cannot allocate memory"},
    {ENOSPC, "No space left on device"},
    {ENOTDIR, "Not a directory"},
    {EOPNOTSUPP, "Operation not supported"},
    {EPERM, "Operation not permitted"},
    {EROFS, "Read-only file system"},
    {ESTALE, "Stale file handle"},
};

static const char *error_text(long error) {
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].error == error)
            return errors[i].text;
    return NULL;
}

void quipu_remember_standard_error(void) {
    struct stat status = {0};
    quipu_state.error_open = SYSTEM_CALL(fstat, 2, &status, 0, 0, 0, 0) == 0;
    if (!quipu_state.error_open)
        return;
    quipu_state.error_file = status.st_dev;
    quipu_state.error_inode = status.st_ino;
}

/* Whether COUNT bytes can be written to descriptor 2 without harm. */
static bool is_writable(size_t count) {
    struct stat status = {0};
    struct rlimit limit = {0};
    struct pollfd poll = {.fd = 2, .events = POLLOUT};
    if (!quipu_state.error_open || SYSTEM_CALL(fstat, 2, &status, 0, 0, 0, 0) != 0 ||
        status.st_dev != quipu_state.error_file || status.st_ino != quipu_state.error_inode)
        return false;
    if (S_ISREG(status.st_mode) && (SYSTEM_CALL(prlimit64, 0, RLIMIT_FSIZE, 0, &limit, 0, 0) != 0 ||
                                    (uint64_t)status.st_size + count > limit.rlim_cur))
        return false;
    return SYSTEM_CALL(poll, &poll, 1, 0, 0, 0, 0) == 1 && poll.revents == POLLOUT;
}

/* Whether this is the process's first warning. Without a header, each module decides alone. */
static bool is_first(void) {
    static uint32_t alone;
    uint32_t *flags = quipu_state.file ? &quipu_state.file->flags : &alone;
    return !(__atomic_fetch_or(flags, QUIPU_FILE_INCOMPLETE, __ATOMIC_ACQ_REL) &
             QUIPU_FILE_INCOMPLETE);
}

void quipu_need_no_warning(void) {
    is_first();
}

static struct iovec piece(const char *text) {
    return (struct iovec){(void *)(uintptr_t)text, text_length(text)};
}

/* Returns the path of the data file without characters that control a terminal. A process has only
 * one warning, so nothing else writes to the buffer. A signal's stack would have no room for it. */
static struct iovec path_piece(size_t length) {
    static char shown[sizeof quipu_state.path];
    const char *path = quipu_state.path;
    for (size_t i = 0, safe; i < length; i += safe ? safe : 1) {
        safe = safe_length(path + i);
        shown[i] = '?';
        for (size_t k = 0; k < safe; k++)
            shown[i + k] = path[i + k];
    }
    return (struct iovec){shown, length};
}

void quipu_warn(const char *what, bool directory, long error, const char *consequence) {
    if (!is_first())
        return;
    char number[32];
    struct text unknown = {number, sizeof number, 0, false};
    text_add(&unknown, "error ");
    text_number(&unknown, (uint64_t)error);
    const char *cause = error_text(error) ? error_text(error) : number;
    struct iovec pieces[] = {piece("quipu: warning: cannot "),
                             piece(what),
                             piece(" '"),
                             path_piece(directory && quipu_state.name_start > 1
                                            ? quipu_state.name_start - 1
                                            : text_length(quipu_state.path)),
                             piece("': "),
                             piece(cause),
                             piece("; "),
                             piece(consequence),
                             piece("\n")};
    enum {
        PIECES = sizeof pieces / sizeof *pieces
    };
    size_t count = 0;
    for (size_t i = 0; i < PIECES; i++)
        count += pieces[i].iov_len;
    /* If the write fails, nothing can be done: there is no other place to report it. */
    if (is_writable(count))
        SYSTEM_CALL(writev, 2, pieces, PIECES, 0, 0, 0);
}

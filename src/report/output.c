/* output.c: opens and closes the output of reports; see output.h. */
#include "report/output.h"

#include "report/pager.h"
#include "report/unfinished.h"
#include "util/buffer.h"
#include "util/diag.h"
#include "util/terminal.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

static ssize_t write_compressed(void *cookie, const char *bytes, size_t count) {
    if (count > 1u << 30)
        count = 1u << 30;
    int put = gzwrite(cookie, bytes, (unsigned)count);
    return put < 0 ? 0 : put; /* 0 is an error for the stream */
}

static int close_compressed(void *cookie) {
    if (gzclose(cookie) == Z_OK)
        return 0;
    if (!errno)
        errno = EIO;
    return EOF;
}

static FILE *open_compressed(const char *path) {
    cookie_io_functions_t functions = {.write = write_compressed, .close = close_compressed};
    errno = 0;
    gzFile file = gzopen(path, "wbe");
    if (!file) {
        if (!errno)
            errno = ENOMEM;
        return NULL;
    }
    FILE *stream = fopencookie(file, "w", functions);
    if (!stream) {
        int saved = errno;
        gzclose(file);
        errno = saved;
    }
    return stream;
}

/* COMPRESSED: what will be written is compressed already. Returns NULL, with errno set, on failure.
 */
static FILE *open_output(const char *path, bool compressed) {
    size_t length = strlen(path);
    if (strcmp(path, "-") == 0)
        return stdout;
    bool compress = !compressed && length > 3 && strcmp(path + length - 3, ".gz") == 0;
    const char *name = begin_unfinished(path);
    FILE *out = compress ? open_compressed(name) : fopen(name, "we");
    int cause = errno;
    if (!out)
        end_unfinished(path, false);
    errno = cause;
    return out;
}

static FILE *begin(const char *path, bool compressed) {
    FILE *out = open_output(path, compressed);
    if (!out)
        die("cannot write '%s': %s", path, strerror(errno));
    return out;
}

FILE *begin_output(const char *path) {
    return begin(path, false);
}

/* ---- text of any bytes to a terminal ---- */

/* Writes the lines that are complete, so that no multibyte character is divided. COOKIE is the
 * buffer for the rest. */
static ssize_t write_lines(void *cookie, const char *bytes, size_t count) {
    struct buffer *left = cookie;
    buffer_add(left, bytes, count);
    const char *end = memrchr(left->data, '\n', left->count);
    size_t size = end ? (size_t)(end + 1 - left->data) : 0;
    write_text_safely(stdout, left->data, size, "\n\t");
    memmove(left->data, left->data + size, left->count - size);
    left->count -= size;
    left->data[left->count] = '\0';
    return ferror(stdout) ? 0 : (ssize_t)count; /* 0 is an error for the stream */
}

static int close_lines(void *cookie) {
    struct buffer *left = cookie;
    write_text_safely(stdout, left->data ? left->data : "", left->count, "");
    buffer_release(left);
    return fflush(stdout);
}

FILE *begin_raw_output(const char *path) {
    static struct buffer left;
    cookie_io_functions_t functions = {.write = write_lines, .close = close_lines};
    if (strcmp(path, "-") != 0 || !isatty(STDOUT_FILENO))
        return begin(path, false);
    FILE *out = fopencookie(&left, "w", functions);
    if (!out)
        die("cannot write standard output: %s", strerror(errno));
    return out;
}

FILE *begin_plain_output(const char *path) {
    if (strcmp(path, "-") == 0 && isatty(STDOUT_FILENO))
        die("it is compressed, and standard output is a terminal; give a file with -o");
    return begin(path, true);
}

void end_output(FILE *out, const char *path) {
    errno = 0;
    bool failed = fflush(out) != 0 || ferror(out);
    int cause = errno;
    if (out != stdout && fclose(out) != 0 && !failed) {
        failed = true;
        cause = errno;
    }
    if (!end_unfinished(path, !failed)) {
        failed = true;
        cause = errno;
    }
    end_pager();
    const char *why = strerror(cause ? cause : EIO);
    if (failed && out == stdout)
        die("cannot write standard output: %s", why);
    if (failed)
        die("cannot write '%s': %s", path, why);
}

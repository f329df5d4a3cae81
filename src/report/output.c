/* output.c: the end of writing a report; see output.h. */
#include "report/output.h"

#include "report/export.h"
#include "util/diag.h"

#include <errno.h>
#include <string.h>

static FILE *begin(const char *path, bool compressed) {
    FILE *out = open_output(path, compressed);
    if (!out)
        die("cannot write '%s': %s", path, strerror(errno));
    return out;
}

FILE *begin_output(const char *path) {
    return begin(path, false);
}

FILE *begin_plain_output(const char *path) {
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
    const char *why = strerror(cause ? cause : EIO);
    if (failed && out == stdout)
        die("cannot write standard output: %s", why);
    if (failed)
        die("cannot write '%s': %s", path, why);
}

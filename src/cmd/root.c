/* root.c: finds where quipu is installed; see root.h. */
#include "cmd/root.h"

#include "util/diag.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

/* Without /proc, this is the path by which the program was started: the working directory was not
 * changed since. */
void find_ourselves(char path[PATH_MAX]) {
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
    const char *started = (const char *)getauxval(AT_EXECFN);
    path[length > 0 ? length : 0] = '\0';
    if (length <= 0 && (!started || !realpath(started, path)))
        die("cannot tell where quipu is installed: '/proc' is not mounted, and '%s': %s",
            started ? started : "", strerror(errno));
}

void find_root(char root[PATH_MAX]) {
    find_ourselves(root);
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(root, '/');
        if (slash)
            *slash = '\0';
    }
}

/* c_library.c: the C library that programs are linked with; see c_library.h. */
#include "cmd/c_library.h"

#include "cmd/identity.h"
#include "util/buffer.h"
#include "util/diag.h"
#include "util/path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *c_library_kind(struct shim_options *options) {
    const char *text = print_options(options, "");
    const char *end = strstr(text, ":placement=");
    return arena_copy(&options->arena, text, end ? (size_t)(end - text) : strlen(text));
}

/* Returns the next line of *REST, without its end, and moves *REST behind it. */
static const char *take_line(struct arena *arena, const char **rest) {
    size_t length = strcspn(*rest, "\n");
    const char *line = arena_copy(arena, *rest, length);
    *rest += length + ((*rest)[length] == '\n');
    return line;
}

/* Ends the program with an error if COMPILER cannot use the library in DIRECTORY. */
static void check_compiler(const char *directory, const char *compiler) {
    const char *name = last_part(compiler);
    if (strstr(name, "clang") || strstr(name, "++"))
        die("'--quipu-libc=%s': '%s' cannot use it; it is for C, compiled by gcc", directory,
            compiler);
}

const char *find_c_library_specs(struct arena *arena, const char *directory, const char *compiler,
                                 struct shim_options *options, bool links) {
    struct buffer text = {0};
    check_compiler(directory, compiler);
    char *absolute = realpath(directory, NULL);
    const char *root = absolute ? arena_copy(arena, absolute, strlen(absolute)) : directory;
    free(absolute);
    if (!buffer_read_file(&text, arena_print(arena, "%s/" C_LIBRARY_FILE, root)))
        die("'%s' has no C library of quipu's (%s); build one by 'quipu libc --build'", directory,
            strerror(errno));
    buffer_text(&text, "");
    const char *rest = text.data, *wanted = c_library_kind(options);
    const char *kind = take_line(arena, &rest), *identity = take_line(arena, &rest);
    if (links && strcmp(kind, wanted) != 0)
        die("'%s': this C library is built for '%s', the program for '%s'; build one for the same "
            "by 'quipu libc --build'",
            directory, kind, wanted);
    if (links && strcmp(identity, own_identity(arena)) != 0)
        die("'%s': another quipu (%s) has built this C library; build it again by 'quipu libc "
            "--build'",
            directory, identity);
    buffer_release(&text);
    return arena_print(arena, "%s/specs", root);
}

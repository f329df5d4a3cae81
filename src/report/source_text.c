/* source_text.c: finds and reads the source files of a profile; see source_text.h. */
#include "report/source_text.h"

#include "util/buffer.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

struct sources sources_start(struct arena *arena, const struct profile *profile,
                             char *const *directories, size_t directory_count) {
    return (struct sources){
        .arena = arena,
        .profile = profile,
        .directories = directories,
        .directory_count = directory_count,
        .texts = ARENA_ARRAY(arena, struct source_text *, profile->files.count),
    };
}

static bool is_file(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* Returns the file below DIRECTORY that has as many of PATH's last components as possible, or
 * NULL. */
static const char *find_below(struct arena *arena, const char *directory, const char *path) {
    for (const char *rest = path; rest; rest = strchr(rest, '/')) {
        rest += *rest == '/';
        const char *candidate = arena_print(arena, "%s/%s", directory, rest);
        if (is_file(candidate))
            return candidate;
    }
    return NULL;
}

static void find_source(struct sources *sources, const char *path, struct source_text *text) {
    struct buffer looked = {0};
    buffer_print(&looked, "'%s'", path);
    if (is_file(path))
        text->path = path;
    for (size_t i = 0; !text->path && i < sources->directory_count; i++) {
        text->path = find_below(sources->arena, sources->directories[i], path);
        buffer_print(&looked, ", below '%s'", sources->directories[i]);
    }
    text->looked = arena_copy(sources->arena, looked.data, looked.count);
    buffer_release(&looked);
}

static void split_lines(struct arena *arena, char *data, size_t size, struct source_text *text) {
    size_t count = 0;
    for (size_t i = 0; i < size; i++)
        count += data[i] == '\n';
    text->lines = ARENA_ARRAY(arena, const char *, count + 1);
    for (char *line = data, *end = data + size; line < end;) {
        char *newline = memchr(line, '\n', (size_t)(end - line));
        char *next = newline ? newline + 1 : end;
        if (newline)
            *newline = '\0';
        text->lines[text->count++] = line;
        line = next;
    }
}

static void read_source(struct arena *arena, struct source_text *text) {
    struct buffer bytes = {0};
    if (buffer_read_file(&bytes, text->path)) {
        char *data = arena_copy(arena, bytes.data ? bytes.data : "", bytes.count);
        split_lines(arena, data, bytes.count, text);
    } else {
        text->looked = arena_print(arena, "'%s' (%s)", text->path, strerror(errno));
        text->path = NULL;
    }
    buffer_release(&bytes);
}

const struct source_text *source_text(struct sources *sources, uint32_t file) {
    struct source_text *text = sources->texts[file];
    if (text)
        return text;
    text = sources->texts[file] = ARENA_NEW(sources->arena, struct source_text);
    text->looked = "nowhere";
    if (file) {
        find_source(sources, sources->profile->files.data[file], text);
        if (text->path)
            read_source(sources->arena, text);
    }
    return text;
}

const char *source_line(const struct source_text *text, uint32_t line) {
    return line && line <= text->count ? text->lines[line - 1] : NULL;
}

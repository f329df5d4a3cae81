/* sources.c: the data files that a command reads; see sources.h.
 *
 * Without further measures, each command would warn about old data after a new build. So the file
 * ".left-out" in the directory identifies the files that were left out. The warning is repeated
 * only if these change. If that file cannot be written, each command warns. */
#include "data/sources.h"

#include "data/tasks.h"
#include "util/buffer.h"
#include "util/diag.h"
#include "util/map.h"
#include "util/path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The sources while they are collected. */
struct listing {
    struct arena *arena;
    VECTOR(struct data_source) list;
};

/* ---- listing ---- */

static void add_source(struct listing *listing, const char *path, const char *directory) {
    struct data_source source = {.file = {.path = path}, .directory = directory};
    vector_push(listing->arena, &listing->list, source);
}

bool is_data_name(const char *name) {
    static const char ending[] = ".quipu";
    size_t length = strlen(name), end = sizeof ending - 1;
    return *name != '.' && length > end && strcmp(name + length - end, ending) == 0;
}

static int has_data_name(const struct dirent *entry) {
    return is_data_name(entry->d_name);
}

static void add_directory(struct listing *listing, const char *path) {
    struct dirent **entries;
    int count = scandir(path, &entries, has_data_name, alphasort);
    if (count < 0)
        die("'%s': %s", path, strerror(errno));
    if (count == 0)
        die("'%s': it holds no data files (*.quipu); run a program built by 'quipu cc' first",
            path);
    for (int i = 0; i < count; i++) {
        add_source(listing, arena_print(listing->arena, "%s/%s", path, entries[i]->d_name), path);
        free(entries[i]);
    }
    free(entries);
}

static void add_path(struct listing *listing, const char *path) {
    struct stat status;
    if (stat(path, &status) != 0) {
        if (errno == ENOENT)
            die("'%s': no such file or directory; run a program built by 'quipu cc' first, or name "
                "its data file or directory",
                path);
        die("'%s': %s", path, strerror(errno));
    }
    if (S_ISDIR(status.st_mode))
        add_directory(listing, path);
    else
        add_source(listing, path, NULL);
}

/* ---- reading ---- */

static const char *read_source(void *context, size_t worker, size_t number) {
    struct data_sources *sources = context;
    struct data_source *source = &sources->list[number];
    source->wrong = data_file_read(&sources->arenas[worker], source->file.path, &source->file);
    return source->directory ? NULL : source->wrong;
}

const char *default_data(void) {
    const char *directory = getenv("QUIPU_DATA");
    return directory && *directory && strcmp(directory, "none") != 0 ? directory : "quipu.data";
}

void sources_read(struct data_sources *sources, char *const *paths, size_t path_count) {
    *sources = (struct data_sources){.arena_count = 0};
    struct listing listing = {.arena = &sources->arena};
    for (size_t i = 0; i < path_count; i++)
        add_path(&listing, paths[i]);
    if (!path_count)
        add_path(&listing, default_data());
    sources->list = listing.list.data;
    sources->count = listing.list.count;
    sources->arena_count = count_workers(sources->count);
    sources->arenas = calloc(sources->arena_count, sizeof *sources->arenas);
    if (!sources->arenas)
        die("out of memory: %zu workers", sources->arena_count);
    size_t failed;
    const char *cause = do_tasks(
        &(struct tasks){
            .what = "data files", .count = sources->count, .run = read_source, .context = sources},
        &failed);
    if (cause)
        die("'%s': %s", sources->list[failed].file.path, cause);
}

/* ---- files that are left out ---- */

/* The files of one directory that are left out, as a whole or in part. */
struct left_out {
    const struct data_source *first;
    size_t count, stale;
    const struct data_source *first_partly; /* of the files that are used in part */
    size_t partly;
    size_t files;        /* all files in the directory */
    struct buffer names; /* of the files of both kinds, and why */
};

static struct left_out find_left_out(const struct data_sources *sources, size_t begin) {
    struct left_out left = {.first = NULL};
    const char *directory = sources->list[begin].directory;
    for (size_t i = begin; i < sources->count && sources->list[i].directory == directory; i++) {
        const struct data_source *source = &sources->list[i];
        left.files++;
        if (source->wrong) {
            left.first = left.first ? left.first : source;
            left.count++;
            left.stale += source->stale;
        } else if (source->partly) {
            left.first_partly = left.first_partly ? left.first_partly : source;
            left.partly++;
        } else {
            continue;
        }
        buffer_print(&left.names, "%s: %s\n", last_part(source->file.path),
                     source->wrong ? source->wrong : source->partly);
    }
    return left;
}

/* Whether this was not reported for DIRECTORY before. Records that it is reported now. */
static bool is_news(const char *directory, const struct left_out *left) {
    struct arena arena = {0};
    char *path = arena_print(&arena, "%s/.left-out", directory);
    char *text = arena_print(&arena, "%08" PRIx32 " %zu\n",
                             hash_text(left->names.data, left->names.count), left->names.count);
    size_t length = strlen(text);
    char *told = arena_alloc(&arena, length + 1);
    int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    bool news = fd < 0 || read(fd, told, length) != (ssize_t)length || strcmp(told, text) != 0;
    if (news && fd >= 0 && ftruncate(fd, 0) == 0)
        (void)!pwrite(fd, text, length, 0); /* if this fails, it is reported again */
    if (fd >= 0)
        close(fd);
    arena_release(&arena);
    return news;
}

static void warn_left_out(const char *directory, const struct left_out *left, bool always) {
    const char *why = left->stale == 0 ? "they cannot be read"
                      : left->stale == left->count
                          ? "their binaries are gone, were built anew or cannot be used"
                          : "they cannot be read, or their binaries are "
                            "gone, were built anew or cannot be used";
    warn(
        "'%s': %zu of %zu data files left out, as %s; the first: '%s': %s; move them away or remove "
        "them%s",
        directory, left->count, left->files, why, left->first->file.path, left->first->wrong,
        always ? "" : "; this is told once, and by 'quipu info'");
}

static void warn_partly(const char *directory, const struct left_out *left, bool always) {
    warn(
        "'%s': in %zu of %zu data files, the counts of shared objects are left out, as their files "
        "are gone; the first: '%s': %s%s",
        directory, left->partly, left->files, left->first_partly->file.path,
        left->first_partly->partly, always ? "" : "; this is told once, and by 'quipu info'");
}

/* Warns about the files from BEGIN on that are of one directory, or about the one file there that
 * was named itself. Returns their number. */
static size_t check_directory(const struct data_sources *sources, size_t begin, bool always) {
    const struct data_source *source = &sources->list[begin];
    if (!source->directory) {
        if (source->partly)
            warn("'%s': the counts of a shared object are left out: %s", source->file.path,
                 source->partly);
        return 1;
    }
    struct left_out left = find_left_out(sources, begin);
    bool warns = (left.count || left.partly) && (always || is_news(source->directory, &left));
    if (warns && left.count)
        warn_left_out(source->directory, &left, always);
    if (warns && left.partly)
        warn_partly(source->directory, &left, always);
    buffer_release(&left.names);
    return left.files;
}

void sources_check(const struct data_sources *sources, bool always) {
    size_t good = 0;
    const struct data_source *first = NULL;
    for (size_t i = 0; i < sources->count; i++) {
        const struct data_source *source = &sources->list[i];
        good += !source->wrong;
        if (source->wrong && (!first || (first->directory && !source->directory)))
            first = source;
    }
    if (first && (!good || !first->directory))
        die("'%s': %s", first->file.path, first->wrong);
    for (size_t i = 0; i < sources->count;)
        i += check_directory(sources, i, always);
}

void sources_release(struct data_sources *sources) {
    for (size_t i = 0; i < sources->arena_count; i++)
        arena_release(&sources->arenas[i]);
    free(sources->arenas);
    arena_release(&sources->arena);
    *sources = (struct data_sources){0};
}

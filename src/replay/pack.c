/* pack.c: puts files into a recording; see pack.h and packed_files.h.
 *
 * Packed are all programs, loaders and libraries, whole, with their separate debug information if
 * that is installed. Of other files that were mapped the recording has what was mapped.
 *
 * A file is taken for the recorded one if it has the size and the time of change that it had. A
 * program that the recording has by itself is taken from there. */
#include "replay/pack.h"

#include "replay/packed_files.h"
#include "replay/start.h"
#include "symbols/image.h"
#include "util/map.h"
#include "util/process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct mapped_file {
    struct file_event event; /* as it was when it was mapped last */
    bool starts;             /* a program begins with it, which is not in the recording */
    bool differs;            /* there were several at the path, one after the other */
};

typedef VECTOR(struct mapped_file) file_list;

struct pack {
    struct arena *arena;
    struct recording recording;
    struct map numbers; /* of the files, by their paths */
    file_list files;
    int output;
    struct packing *packing;
};

/* ---- which files ---- */

static struct mapped_file *find_file(struct pack *pack, const char *path) {
    const uint32_t *number = map_find(&pack->numbers, path, strlen(path));
    return number ? vector_at(&pack->files, *number) : NULL;
}

static bool take_file(struct pack *pack, struct event *event) {
    struct mapped_file file = {0};
    if (!read_file_event(event, &file.event))
        return false;
    file.event.path = arena_copy(pack->arena, file.event.path, strlen(file.event.path));
    struct mapped_file *known = find_file(pack, file.event.path);
    if (known) {
        known->differs |= known->event.size != file.event.size ||
                          known->event.seconds != file.event.seconds ||
                          known->event.nanoseconds != file.event.nanoseconds;
        known->event = file.event;
        return true;
    }
    map_add(pack->arena, &pack->numbers, file.event.path, strlen(file.event.path),
            (uint32_t)pack->files.count);
    vector_push(pack->arena, &pack->files, file);
    return true;
}

/* A program begins: its file, if the recording does not have it, and its loader. */
static bool take_program(struct pack *pack, struct event *event) {
    struct start start;
    if (!read_start_event(pack->arena, event, &start))
        return false;
    for (size_t i = 0; i < start.mappings.count; i++) {
        const char *path = start.mappings.data[i].path;
        struct mapped_file *file = find_file(pack, path);
        if (file && !(start.file_size && strcmp(path, start.path) == 0))
            file->starts = true;
    }
    return true;
}

/* Reads all events. */
static const char *find_files(struct pack *pack) {
    struct recording *recording = &pack->recording;
    const char *wrong = NULL;
    struct event event;
    bool good = true;
    while (good && recording_next(recording, &event, &wrong) == READING_EVENT) {
        if (event.kind == QUIPU_EVENT_FILE)
            good = take_file(pack, &event);
        if (event.kind == QUIPU_EVENT_START)
            good = take_program(pack, &event);
    }
    return good ? wrong : arena_print(pack->arena, "'%s' is corrupt: an event", recording->path);
}

/* ---- adding ---- */

static const char *cannot_write(struct pack *pack) {
    return arena_print(pack->arena, "the packed recording cannot be written: %s", strerror(errno));
}

/* Adds the file FD, which is that at PATH. */
static const char *add_file(struct pack *pack, int fd, const char *path, const char *name) {
    return add_packed_file(pack->output, fd, path, name) ? NULL : cannot_write(pack);
}

/* Adds the debug information of what has the BUILD_ID, if it is installed. */
static const char *add_debug_file(struct pack *pack, const char *build_id) {
    if (!build_id || strlen(build_id) < 3)
        return NULL;
    const char *path =
        arena_print(pack->arena, "/usr/lib/debug/.build-id/%.2s/%s.debug", build_id, build_id + 2);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const char *wrong = fd < 0 ? NULL : add_file(pack, fd, path, "");
    if (fd >= 0)
        close(fd);
    return wrong;
}

/* Opens FILE. Returns -1 if it is not the recorded one any more. */
static int open_unchanged(const struct mapped_file *file) {
    const struct file_event *event = &file->event;
    struct stat status;
    int fd = open(event->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
        (uint64_t)status.st_size == event->size &&
        (uint64_t)status.st_mtim.tv_sec == event->seconds &&
        (uint64_t)status.st_mtim.tv_nsec == event->nanoseconds)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* FILE is gone, or another one now. */
static const char *leave_out(struct pack *pack, const struct mapped_file *file) {
    if (file->starts)
        return arena_print(pack->arena,
                           "'%s' has changed since it was recorded, and the run begins with it; "
                           "bring that file back, or record anew",
                           file->event.path);
    if (strstr(file->event.path, ".so"))
        vector_push(pack->arena, &pack->packing->left_out, file->event.path);
    return NULL;
}

static const char *pack_file(struct pack *pack, const struct mapped_file *file) {
    struct file_names names;
    int fd = open_unchanged(file);
    if (fd < 0 || (file->differs && file->starts)) {
        if (fd >= 0)
            close(fd);
        return leave_out(pack, file);
    }
    const char *wrong = NULL;
    if (read_file_names(pack->arena, fd, &names)) {
        wrong = add_file(pack, fd, file->event.path, names.soname ? names.soname : "");
        if (!wrong)
            wrong = add_debug_file(pack, names.build_id);
    }
    close(fd);
    return wrong;
}

/* ---- the new recording ---- */

static const char *write_packed(struct pack *pack) {
    struct quipu_recording_file header;
    memcpy(&header, pack->recording.bytes, sizeof header);
    size_t events = pack->packing->packed_before ? header.begin : pack->recording.next;
    const char *wrong = pack->packing->packed_before ? NULL : find_files(pack);
    pack->recording.next = events;
    header.begin = sizeof header;
    if (!wrong && !write_whole(pack->output, &header, sizeof header))
        wrong = cannot_write(pack);
    for (size_t i = 0; i < pack->files.count && !wrong; i++)
        wrong = pack_file(pack, &pack->files.data[i]);
    if (!wrong && !recording_copy_rest(&pack->recording, pack->output))
        wrong = cannot_write(pack);
    return wrong;
}

/* The recording, which is whole in the file TEMPORARY, replaces OUTPUT. */
static const char *replace(struct pack *pack, const char *temporary, const char *path,
                           const char *output) {
    struct stat status;
    if (stat(path, &status) != 0 || fchmod(pack->output, status.st_mode & 0777) != 0 ||
        fsync(pack->output) != 0)
        return cannot_write(pack);
    if (rename(temporary, output) != 0)
        return arena_print(pack->arena, "cannot replace '%s': %s", output, strerror(errno));
    return NULL;
}

/* Returns the path of the file that OUTPUT leads to. */
static const char *follow_links(struct arena *arena, const char *output) {
    char *real = realpath(output, NULL);
    const char *path = arena_copy(arena, real ? real : output, strlen(real ? real : output));
    free(real);
    return path;
}

const char *pack_recording(struct arena *arena, const char *path, const char *output,
                           struct packing *packing) {
    struct pack pack = {.arena = arena, .output = -1, .packing = packing};
    struct stat status;
    *packing = (struct packing){0};
    output = follow_links(arena, output);
    if (stat(output, &status) == 0 && !S_ISREG(status.st_mode))
        return arena_print(arena, "'%s' is not a file; name another one with --output", output);
    const char *wrong = recording_open(arena, path, &pack.recording);
    if (wrong)
        return wrong;
    packing->packed_before = pack.recording.files.count;
    const char *slash = strrchr(output, '/');
    const char *directory = slash ? arena_copy(arena, output, (size_t)(slash - output) + 1) : ".";
    char *temporary = make_temporary_in(directory, ".quipu-pack-");
    if (temporary)
        pack.output = open(temporary, O_WRONLY | O_CLOEXEC);
    if (pack.output < 0)
        wrong = arena_print(arena, "cannot write to '%s': %s", directory, strerror(errno));
    if (!wrong)
        wrong = write_packed(&pack);
    if (!wrong)
        wrong = replace(&pack, temporary, path, output);
    if (wrong && temporary)
        unlink(temporary);
    if (pack.output >= 0)
        close(pack.output);
    free(temporary);
    recording_close(&pack.recording);
    return wrong;
}

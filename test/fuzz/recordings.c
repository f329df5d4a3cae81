/* recordings.c: fuzzes the reader of recordings.
 *
 *     recordings RECORDING FILE SEEDS [FIRST]
 *
 * For each seed writes a damaged copy of RECORDING to FILE: its events in one open block, with some
 * bytes changed, or the compressed file itself. Then it reads the copy in a child process: all
 * events, each taken apart. A child must end with status 0 (it was good all the same) or 1 (an
 * error was told). A signal, a sanitizer's report or ten seconds without an end are a failure: the
 * seed is named. The same seed always makes the same damage. */
#include "random.h"
#include "replay/image.h"
#include "replay/packed_files.h"
#include "replay/recording.h"
#include "replay/start.h"
#include "util/buffer.h"
#include "util/diag.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    SECONDS_MAX = 10
};

/* ---- damage ---- */

static uint8_t random_byte(void) {
    static const uint8_t bytes[] = {0, 1, 0x7f, 0x80, 0xff};
    size_t number = random_below(sizeof bytes + 1);
    return number < sizeof bytes ? bytes[number] : (uint8_t)random_number();
}

/* Changes some bytes, mostly where events are small: at the begin. */
static void damage(struct buffer *file, size_t begin) {
    size_t changes = 1 + random_below(6), near = begin + 4096;
    for (size_t i = 0; i < changes; i++) {
        size_t limit = random_below(4) && near < file->count ? near : file->count;
        file->data[begin + random_below(limit - begin)] = (char)random_byte();
    }
    if (random_below(4) == 0)
        file->count = begin + random_below(file->count - begin);
}

/* Sets OUT to the recording at PATH with its events in one open block. */
static void open_blocks(struct arena *arena, const char *path, struct buffer *out) {
    struct quipu_recording_file header = {.version = QUIPU_RECORDING_VERSION,
                                          .begin = sizeof header};
    const struct quipu_recording_block block = {.kind = QUIPU_RECORDING_OPEN};
    struct recording recording;
    struct event event;
    const char *wrong = recording_open(arena, path, &recording);
    if (wrong)
        die("%s", wrong);
    memcpy(header.magic, QUIPU_RECORDING_MAGIC, sizeof header.magic);
    buffer_add(out, &header, sizeof header);
    buffer_add(out, &block, sizeof block);
    while (recording_next(&recording, &event, &wrong) == READING_EVENT) {
        size_t size = cursor_left(&event.bytes);
        put_number(out, event.kind, 1);
        buffer_uleb128(out, event.thread);
        buffer_uleb128(out, size);
        buffer_add(out, event.bytes.next, size);
    }
    recording_close(&recording);
}

static void write_file(const char *path, const struct buffer *bytes) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || !write_whole(fd, bytes->data, bytes->count) || close(fd) != 0)
        die("'%s': %s", path, strerror(errno));
}

/* ---- reading ---- */

static bool take_apart(struct arena *arena, struct recording *recording, struct event *event) {
    static struct image_thread image_thread;
    struct image_process image_process;
    struct run_image image;
    struct start start;
    struct memory_event memory;
    struct call_event call;
    struct signal_event signal;
    struct counter_event counter;
    struct clone_event made;
    struct tick_event tick;
    struct steps_event steps;
    struct loop_event loop;
    struct state_place place;
    struct file_event file;
    struct cursor contents;
    uint32_t number;
    const char *why;
    char **argv, **environment;
    int status;
    switch (event->kind) {
    case QUIPU_EVENT_START:
        return read_start_event(arena, event, &start) &&
               start_words(arena, &start, &argv, &environment) &&
               !compare_starts(arena, &start, &start);
    case QUIPU_EVENT_MEMORY:
        return read_memory_event(event, &memory) && !recording_contents(recording, &memory);
    case QUIPU_EVENT_CALL:
        return read_call_event(event, &call);
    case QUIPU_EVENT_SIGNAL:
        return read_signal_event(event, &signal);
    case QUIPU_EVENT_COUNTER:
        return read_counter_event(event, &counter);
    case QUIPU_EVENT_ENTRY:
        return read_entry_event(event, &call);
    case QUIPU_EVENT_CLONE:
        return read_clone_event(event, &made);
    case QUIPU_EVENT_CONTENTS:
        return read_contents_event(event, &number, &contents);
    case QUIPU_EVENT_FILE:
        return read_file_event(event, &file);
    case QUIPU_EVENT_LOOP:
        return read_loop_event(event, &loop);
    case QUIPU_EVENT_PLACE:
        return read_place_event(arena, event, &place);
    case QUIPU_EVENT_EXIT:
        return read_exit_event(event);
    case QUIPU_EVENT_TICK:
        return read_tick_event(event, &tick);
    case QUIPU_EVENT_STEPS:
        return read_steps_event(event, &steps);
    case QUIPU_EVENT_IMAGE:
        return read_image_head(arena, event, &image);
    case QUIPU_EVENT_IMAGE_PROCESS:
        return read_image_process(arena, event, &image_process);
    case QUIPU_EVENT_IMAGE_THREAD:
        return read_image_thread(arena, event, &image_thread);
    case QUIPU_EVENT_END:
        return read_end_event(event, &status);
    default:
        return read_stopped_event(event, &why);
    }
}

static bool extract_all(const struct recording *recording) {
    bool good = true;
    for (size_t i = 0; i < recording->files.count && good; i++) {
        int file = extract_packed_file(recording, &recording->files.data[i]);
        good = file >= 0 && find_packed_file(recording, recording->files.data[i].path);
        close(file);
    }
    return good;
}

static int read_all(const char *path) {
    struct arena arena = {0};
    struct recording recording;
    struct event event;
    enum reading reading;
    const char *wrong = recording_open(&arena, path, &recording);
    if (wrong || !extract_all(&recording))
        return 1;
    while ((reading = recording_next(&recording, &event, &wrong)) == READING_EVENT)
        if (!take_apart(&arena, &recording, &event))
            return 1;
    if (reading == READING_WRONG && strlen(wrong) == 0)
        abort();
    recording_close(&recording);
    arena_release(&arena);
    return reading == READING_WRONG;
}

/* Returns whether the child ends as it should. */
static bool try_file(const char *path, unsigned counts[2]) {
    int status;
    pid_t child = fork();
    if (child == 0) {
        alarm(SECONDS_MAX);
        exit(read_all(path));
    }
    if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) > 1)
        return false;
    counts[WEXITSTATUS(status)]++;
    return true;
}

int main(int argc, char **argv) {
    struct arena arena = {0};
    struct buffer files[2] = {{0}};
    unsigned counts[2] = {0};
    if (argc < 4)
        die("usage: recordings RECORDING FILE SEEDS [FIRST]");
    open_blocks(&arena, argv[1], &files[0]);
    if (!buffer_read_file(&files[1], argv[1]))
        die("'%s': %s", argv[1], strerror(errno));
    uint64_t first = argc > 4 ? strtoull(argv[4], NULL, 10) : 1;
    uint64_t last = first + strtoull(argv[3], NULL, 10);
    for (uint64_t seed = first; seed < last; seed++) {
        struct buffer copy = {0};
        state = seed * 0x9e3779b97f4a7c15u + 1;
        const struct buffer *whole = &files[random_below(4) == 0];
        buffer_add(&copy, whole->data, whole->count);
        damage(&copy, random_below(8) ? sizeof(struct quipu_recording_file) : 0);
        write_file(argv[2], &copy);
        buffer_release(&copy);
        if (!try_file(argv[2], counts)) {
            printf("seed %" PRIu64 " fails; '%s' is kept\n", seed, argv[2]);
            return 1;
        }
    }
    printf("%u good, %u errors\n", counts[0], counts[1]);
    return counts[0] && counts[1] ? 0 : 1;
}

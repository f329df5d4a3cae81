/* recorded_process.c: which process of a recording is looked at; see recorded_process.h.
 *
 * The first process of a recording often is a shell or make, and the program in question is
 * executed by one of its children.
 *
 * Not perfect: a program that was executed from a file without a path is taken for one without
 * debug information. */
#include "cmd/recorded_process.h"

#include "cmd/info_recording.h"
#include "replay/packed_files.h"
#include "symbols/binary.h"
#include "symbols/moment_name.h"

#include <string.h>
#include <unistd.h>

/* A program, and whether it has debug information. */
struct known_program {
    const char *path;
    bool has_information;
};

struct choice {
    struct arena *arena;
    struct recording recording;
    VECTOR(struct known_program) known;
};

/* The file is that of the recording, if it is packed. */
static bool look_at_program(const struct recording *recording, const char *path) {
    struct arena arena = {0};
    struct binary *binary = NULL;
    const struct packed_file *packed = find_packed_file(recording, path);
    int file = packed ? extract_packed_file(recording, packed) : -1;
    if (file >= 0)
        path = arena_print(&arena, "/proc/self/fd/%d", file);
    bool has_information = !binary_open(&arena, path, &binary) && binary->dwarf;
    binary_close(binary);
    if (file >= 0)
        close(file);
    arena_release(&arena);
    return has_information;
}

static bool has_information(struct choice *choice, const char *path) {
    for (size_t i = 0; i < choice->known.count; i++)
        if (strcmp(choice->known.data[i].path, path) == 0)
            return choice->known.data[i].has_information;
    struct known_program program = {path, look_at_program(&choice->recording, path)};
    vector_push(choice->arena, &choice->known, program);
    return program.has_information;
}

/* Whether the first program of all has it: then the rest of the recording is not looked at. */
static bool is_first(struct choice *choice) {
    struct event event;
    struct start start;
    const char *wrong;
    return recording_next(&choice->recording, &event, &wrong) == READING_EVENT &&
           event.kind == QUIPU_EVENT_START && read_start_event(choice->arena, &event, &start) &&
           has_information(choice, start.path);
}

static const char *look_at_all(struct choice *choice, const char *path) {
    char *paths[] = {(char *)path};
    const struct recording_facts *facts = look_at_recordings(choice->arena, paths, 1).data;
    bool is_gone = facts->in_middle && facts->image.first_ended;
    for (size_t i = is_gone; i < facts->processes.count; i++) {
        const struct recorded_process_facts *process = &facts->processes.data[i];
        for (size_t j = 0; j < process->programs.count; j++)
            if (has_information(choice, process->programs.data[j]))
                return process->name;
    }
    return "1";
}

const char *choose_process(struct arena *arena, const char *path) {
    struct choice choice = {.arena = arena};
    if (recording_open(arena, path, &choice.recording))
        return "1"; /* whoever plays it says why */
    const char *name = is_first(&choice) ? "1" : look_at_all(&choice, path);
    recording_close(&choice.recording);
    return name;
}

const char *process_of_moment(struct arena *arena, const char *path, const char *text) {
    struct moment_name name;
    if (read_recorded_moment(arena, text, &name) || name.thread)
        return choose_process(arena, path);
    return process_of_thread(arena, name.thread_name);
}

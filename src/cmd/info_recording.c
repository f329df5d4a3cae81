/* info_recording.c: quipu info of a recording; see info_recording.h. */
#include "cmd/info_recording.h"

#include "util/diag.h"
#include "util/terminal.h"

#include <inttypes.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

/* The events that are counted, in text and as members in JSON. */
static const struct {
    enum quipu_event_kind kind;
    const char *text, *member;
} kinds[] = {
    {QUIPU_EVENT_CALL, "system calls", "calls"},
    {QUIPU_EVENT_SIGNAL, "signals", "signals"},
    {QUIPU_EVENT_COUNTER, "counter reads", "counter_reads"},
};

enum {
    KINDS = sizeof kinds / sizeof *kinds,
    TIME_SIZE = 64
};

/* ---- facts ---- */

static struct recorded_process_facts *process_of(const struct recording_facts *facts,
                                                 uint32_t thread) {
    uint32_t process = vector_at(&facts->threads, thread - 1)->process;
    return vector_at(&facts->processes, process);
}

static void execute(struct arena *arena, struct recorded_process_facts *process,
                    const char *program) {
    process->program = program;
    vector_push(arena, &process->programs, program);
}

/* A program begins, the first one or another. */
static bool add_start(struct arena *arena, struct recording_facts *facts, struct event *event) {
    struct start start;
    char **environment, **argv;
    if (!read_start_event(arena, event, &start) || !start_words(arena, &start, &argv, &environment))
        return false;
    if (facts->argv) {
        execute(arena, process_of(facts, event->thread), start.path);
        return true;
    }
    facts->start = start;
    facts->argv = (const char *const *)argv;
    struct recorded_process_facts process = {
        .name = "1", .number = (uint32_t)start.process, .threads = 1};
    execute(arena, &process, start.path);
    struct recorded_thread_facts thread = {.name = "1", .number = (uint32_t)start.process};
    vector_push(arena, &facts->processes, process);
    vector_push(arena, &facts->threads, thread);
    names_begin(arena, &facts->names);
    return event->thread == 1;
}

/* The recording begins in the middle of the run. The first process may have ended by then. */
static bool add_image(struct arena *arena, struct recording_facts *facts, struct event *event) {
    struct run_image *image = &facts->image;
    if (facts->argv || !read_image_head(arena, event, image))
        return false;
    facts->in_middle = true;
    facts->start = (struct start){
        .process = (pid_t)image->first, .path = image->path, .seconds = image->began};
    vector_push(arena, &image->command, NULL);
    facts->argv = image->command.data;
    struct recorded_process_facts first = {
        .name = "1", .number = image->first, .ended = image->first_ended, .status = image->status};
    execute(arena, &first, image->path);
    vector_push(arena, &facts->processes, first);
    names_begin_image(arena, &facts->names, image->threads);
    for (uint32_t i = 0; i < image->threads; i++)
        vector_push(arena, &facts->threads, ((struct recorded_thread_facts){.name = ""}));
    return true;
}

static bool add_image_process(struct arena *arena, struct recording_facts *facts,
                              struct event *event) {
    struct image_process image;
    if (!facts->in_middle || !read_image_process(arena, event, &image))
        return false;
    struct recorded_process_facts process = {
        .name = image.name, .number = image.number, .threads = (uint32_t)image.threads};
    execute(arena, &process, image.path);
    facts->last_process = image.is_first ? 0 : (uint32_t)facts->processes.count;
    if (image.is_first)
        facts->processes.data[0] = process;
    else
        vector_push(arena, &facts->processes, process);
    return true;
}

static bool add_image_thread(struct arena *arena, struct recording_facts *facts,
                             struct event *event) {
    static struct image_thread image;
    if (!facts->in_middle || !read_image_thread(arena, event, &image))
        return false;
    facts->threads.data[event->thread - 1] = (struct recorded_thread_facts){
        .name = image.name, .number = image.number, .process = facts->last_process};
    const struct image_process process = {.name = facts->processes.data[facts->last_process].name};
    return names_set(arena, &facts->names, &process, &image);
}

static bool add_clone(struct arena *arena, struct recording_facts *facts, struct event *event) {
    struct clone_event made;
    if (!read_clone_event(event, &made) || event->thread != facts->threads.count + 1)
        return false;
    const struct named_thread *named = names_add(arena, &facts->names, &made);
    if (!named)
        return false;
    uint32_t maker = vector_at(&facts->threads, made.maker - 1)->process;
    struct recorded_thread_facts thread = {
        .name = named->name, .number = made.number, .process = maker};
    if (made.kind == QUIPU_CLONE_THREAD) {
        vector_at(&facts->processes, maker)->threads++;
    } else {
        thread.process = (uint32_t)facts->processes.count;
        struct recorded_process_facts process = {
            .name = named->name, .number = made.number, .threads = 1};
        execute(arena, &process, vector_at(&facts->processes, maker)->program);
        vector_push(arena, &facts->processes, process);
    }
    vector_push(arena, &facts->threads, thread);
    return true;
}

static bool add_signal(struct recording_facts *facts, struct event *event) {
    struct signal_event signal;
    if (!read_signal_event(event, &signal))
        return false;
    facts->signals[signal.signal]++;
    process_of(facts, event->thread)->signals++;
    return true;
}

static bool add_end(struct recording_facts *facts, struct event *event) {
    struct recorded_process_facts *process = process_of(facts, event->thread);
    process->ended = true;
    return read_end_event(event, &process->status);
}

static bool add_stopped(struct arena *arena, struct recording_facts *facts, struct event *event) {
    const char *why;
    if (!read_stopped_event(event, &why))
        return false;
    process_of(facts, event->thread)->stopped = arena_copy(arena, why, strlen(why));
    return true;
}

/* Returns false if the event is corrupt. */
static bool add_event(struct arena *arena, struct recording_facts *facts, struct event *event) {
    struct memory_event memory;
    struct file_event file;
    struct cursor contents;
    uint32_t number;
    bool is_part = event->kind == QUIPU_EVENT_MEMORY || event->kind == QUIPU_EVENT_CONTENTS ||
                   event->kind == QUIPU_EVENT_FILE;
    bool is_of_image = event->kind == QUIPU_EVENT_IMAGE ||
                       event->kind == QUIPU_EVENT_IMAGE_PROCESS ||
                       event->kind == QUIPU_EVENT_IMAGE_THREAD;
    bool is_new = is_part || event->kind == QUIPU_EVENT_CLONE || event->kind == QUIPU_EVENT_START ||
                  event->kind == QUIPU_EVENT_IMAGE;
    bool is_known = event->thread && event->thread <= facts->threads.count;
    facts->events[event->kind]++;
    if (!is_new && !is_known)
        return false;
    if (is_known && !is_part && !is_of_image) {
        facts->threads.data[event->thread - 1].events++;
        process_of(facts, event->thread)->events++;
    }
    switch (event->kind) {
    case QUIPU_EVENT_START:
        return (is_known || !facts->argv) && add_start(arena, facts, event);
    case QUIPU_EVENT_IMAGE:
        return add_image(arena, facts, event);
    case QUIPU_EVENT_IMAGE_PROCESS:
        return add_image_process(arena, facts, event);
    case QUIPU_EVENT_IMAGE_THREAD:
        return add_image_thread(arena, facts, event);
    case QUIPU_EVENT_CLONE:
        return add_clone(arena, facts, event);
    case QUIPU_EVENT_MEMORY:
        if (!read_memory_event(event, &memory))
            return false;
        facts->memory_bytes += memory.bytes ? memory.size : 0;
        return true;
    case QUIPU_EVENT_CONTENTS:
        if (!read_contents_event(event, &number, &contents))
            return false;
        facts->memory_bytes += cursor_left(&contents);
        return true;
    case QUIPU_EVENT_FILE:
        return read_file_event(event, &file);
    case QUIPU_EVENT_SIGNAL:
        return add_signal(facts, event);
    case QUIPU_EVENT_END:
        return add_end(facts, event);
    case QUIPU_EVENT_STOPPED:
        return add_stopped(arena, facts, event);
    default:
        return true;
    }
}

static struct recording_facts look_at(struct arena *arena, const char *path) {
    struct recording_facts facts = {.path = path};
    struct recording recording;
    struct event event;
    enum reading reading;
    const char *wrong = recording_open(arena, path, &recording);
    if (wrong)
        die("%s", wrong);
    facts.file_bytes = recording.size - recording.hole;
    facts.packed = recording.files.count;
    for (size_t i = 0; i < recording.files.count; i++)
        facts.packed_bytes += recording.files.data[i].size;
    while ((reading = recording_next(&recording, &event, &wrong)) == READING_EVENT)
        if (!add_event(arena, &facts, &event))
            die("'%s' is corrupt: an event behind %" PRIu64 " system calls", path,
                facts.events[QUIPU_EVENT_CALL]);
    if (reading == READING_WRONG)
        die("%s", wrong);
    if (!facts.argv)
        die("'%s' was cut before the program began", path);
    recording_close(&recording);
    return facts;
}

recording_list look_at_recordings(struct arena *arena, char **paths, size_t count) {
    recording_list list = {0};
    for (size_t i = 0; i < count; i++)
        if (recording_is(paths[i]))
            vector_push(arena, &list, look_at(arena, paths[i]));
    return list;
}

static bool was_cut(const struct recorded_process_facts *process) {
    return !process->ended && !process->stopped;
}

static bool some_was_cut(const struct recording_facts *facts) {
    for (size_t i = 0; i < facts->processes.count; i++)
        if (was_cut(&facts->processes.data[i]))
            return true;
    return false;
}

/* ---- text ---- */

static const char *end_text(struct arena *arena, const struct recorded_process_facts *process) {
    if (process->stopped)
        return arena_print(arena, "while the program went on: %s", process->stopped);
    if (was_cut(process))
        return "it was cut: the program's end is missing";
    if (WIFSIGNALED(process->status))
        return arena_print(arena, "by signal %d (%s)", WTERMSIG(process->status),
                           strsignal(WTERMSIG(process->status)));
    return arena_print(arena, "with status %d", WEXITSTATUS(process->status));
}

static const char *threads_text(struct arena *arena, uint32_t threads) {
    return arena_print(arena, "%" PRIu32 " thread%s", threads, threads == 1 ? "" : "s");
}

/* One line for each process, if there are several. */
static void write_processes(FILE *out, struct arena *arena, const struct recording_facts *facts) {
    if (facts->processes.count < 2)
        return;
    print_line(out, "  processes     %zu, %zu threads", facts->processes.count,
               facts->threads.count);
    for (size_t i = 0; i < facts->processes.count; i++) {
        const struct recorded_process_facts *process = &facts->processes.data[i];
        print_line(
            out, "    %-12s %7" PRIu32 "  %s, %s, %" PRIu64 " events, %" PRIu64 " signals: %s",
            process->name, process->number, process->program, threads_text(arena, process->threads),
            process->events, process->signals, end_text(arena, process));
    }
}

static const char *time_text(struct arena *arena, uint64_t seconds) {
    char text[TIME_SIZE];
    time_t time = (time_t)seconds;
    struct tm parts;
    if (!gmtime_r(&time, &parts) || !strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &parts))
        return "not known";
    return arena_copy(arena, text, strlen(text));
}

static const char *command_text(struct arena *arena, const struct recording_facts *facts) {
    const char *text = "";
    for (const char *const *word = facts->argv; *word; word++)
        text = arena_print(arena, "%s%s%s", text, *text ? " " : "", *word);
    return text;
}

void write_text_recording(FILE *out, struct arena *arena, const struct recording_facts *facts) {
    print_line(out, "%s", facts->path);
    print_line(out, "  program       %s", facts->start.path);
    print_line(out, "  command       %s", command_text(arena, facts));
    const struct recorded_process_facts *first = vector_at(&facts->processes, 0);
    print_line(out, "  process       %d, %s", (int)facts->start.process,
               threads_text(arena, first->threads));
    print_line(out, "  began         %s", time_text(arena, facts->start.seconds));
    if (facts->in_middle)
        print_line(out,
                   "  begins        in the middle of the run, %s, behind %" PRIu64
                   " system calls and %" PRIu64 " signals",
                   time_text(arena, facts->image.made), facts->image.calls, facts->image.signals);
    for (int i = 0; i < KINDS; i++)
        print_line(out, "  %-13s %" PRIu64, kinds[i].text, facts->events[kinds[i].kind]);
    for (int i = 1; i < NSIG; i++)
        if (facts->signals[i])
            print_line(out, "    %" PRIu64 " of signal %d (%s)", facts->signals[i], i,
                       strsignal(i));
    print_line(out, "  contents      %" PRIu64 " bytes of memory", facts->memory_bytes);
    if (facts->packed)
        print_line(out, "  packed        %zu files of %" PRIu64 " bytes: it plays without them",
                   facts->packed, facts->packed_bytes);
    print_line(out, "  stored in     %" PRIu64 " bytes", facts->file_bytes);
    print_line(out, "  ends          %s", end_text(arena, first));
    write_processes(out, arena, facts);
}

/* ---- JSON ---- */

static void write_json_end(struct json_writer *json, const struct recorded_process_facts *process) {
    if (process->stopped)
        json_string(json, "stopped", process->stopped);
    if (process->ended && WIFEXITED(process->status))
        json_unsigned(json, "status", (uint64_t)WEXITSTATUS(process->status));
    if (process->ended && WIFSIGNALED(process->status))
        json_unsigned(json, "signal", (uint64_t)WTERMSIG(process->status));
}

static void write_json_threads(struct json_writer *json, const struct recording_facts *facts,
                               size_t process) {
    json_open_array(json, "threads");
    for (size_t i = 0; i < facts->threads.count; i++) {
        const struct recorded_thread_facts *thread = &facts->threads.data[i];
        if (thread->process != process)
            continue;
        json_open_object(json, NULL);
        json_string(json, "name", thread->name);
        json_unsigned(json, "number", i + 1);
        json_unsigned(json, "tid", thread->number);
        json_unsigned(json, "events", thread->events);
        json_close(json);
    }
    json_close(json);
}

static void write_json_processes(struct json_writer *json, const struct recording_facts *facts) {
    json_open_array(json, "processes");
    for (size_t i = 0; i < facts->processes.count; i++) {
        const struct recorded_process_facts *process = &facts->processes.data[i];
        json_open_object(json, NULL);
        json_string(json, "name", process->name);
        json_unsigned(json, "pid", process->number);
        json_string(json, "program", process->program);
        json_unsigned(json, "events", process->events);
        json_unsigned(json, "signals", process->signals);
        json_bool(json, "cut", was_cut(process));
        write_json_end(json, process);
        write_json_threads(json, facts, i);
        json_close(json);
    }
    json_close(json);
}

void write_json_recording(struct json_writer *json, const struct recording_facts *facts) {
    json_open_object(json, NULL);
    json_string(json, "path", facts->path);
    json_string(json, "program", facts->start.path);
    json_open_array(json, "command");
    for (const char *const *word = facts->argv; *word; word++)
        json_string(json, NULL, *word);
    json_close(json);
    json_unsigned(json, "pid", (uint64_t)facts->start.process);
    json_unsigned(json, "threads", facts->threads.count);
    json_unsigned(json, "began", facts->start.seconds);
    if (facts->in_middle) {
        json_unsigned(json, "begins", facts->image.made);
        json_unsigned(json, "calls_before", facts->image.calls);
        json_unsigned(json, "signals_before", facts->image.signals);
    }
    for (int i = 0; i < KINDS; i++)
        json_unsigned(json, kinds[i].member, facts->events[kinds[i].kind]);
    json_unsigned(json, "written_bytes", facts->memory_bytes);
    json_unsigned(json, "packed_files", facts->packed);
    json_unsigned(json, "file_bytes", facts->file_bytes);
    json_bool(json, "cut", some_was_cut(facts));
    write_json_end(json, vector_at(&facts->processes, 0));
    write_json_processes(json, facts);
    json_close(json);
}

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

static bool add_start(struct arena *arena, struct recording_facts *facts, struct event *event) {
    char **environment;
    return read_start_event(arena, event, &facts->start) &&
           start_words(arena, &facts->start, &facts->argv, &environment);
}

/* Returns false if the event is corrupt. */
static bool add_event(struct arena *arena, struct recording_facts *facts, struct event *event) {
    struct memory_event memory;
    struct signal_event signal;
    facts->events[event->kind]++;
    facts->threads = event->thread > facts->threads ? event->thread : facts->threads;
    switch (event->kind) {
    case QUIPU_EVENT_START:
        return add_start(arena, facts, event);
    case QUIPU_EVENT_MEMORY:
        if (!read_memory_event(event, &memory))
            return false;
        facts->memory_bytes += memory.size;
        return true;
    case QUIPU_EVENT_SIGNAL:
        if (!read_signal_event(event, &signal))
            return false;
        facts->signals[signal.signal]++;
        return true;
    case QUIPU_EVENT_END:
        facts->ended = true;
        return read_end_event(event, &facts->status);
    case QUIPU_EVENT_STOPPED:
        if (!read_stopped_event(event, &facts->stopped))
            return false;
        facts->stopped = arena_copy(arena, facts->stopped, strlen(facts->stopped));
        return true;
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
    facts.file_bytes = recording.size;
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

static bool was_cut(const struct recording_facts *facts) {
    return !facts->ended && !facts->stopped;
}

/* ---- text ---- */

static void write_end(FILE *out, const struct recording_facts *facts) {
    if (facts->stopped)
        print_line(out, "  ends          while the program went on: %s", facts->stopped);
    else if (was_cut(facts))
        print_line(out, "  ends          it was cut: the program's end is missing");
    else if (WIFSIGNALED(facts->status))
        print_line(out, "  ends          by signal %d (%s)", WTERMSIG(facts->status),
                   strsignal(WTERMSIG(facts->status)));
    else
        print_line(out, "  ends          with status %d", WEXITSTATUS(facts->status));
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
    for (char **word = facts->argv; *word; word++)
        text = arena_print(arena, "%s%s%s", text, *text ? " " : "", *word);
    return text;
}

void write_text_recording(FILE *out, struct arena *arena, const struct recording_facts *facts) {
    print_line(out, "%s", facts->path);
    print_line(out, "  program       %s", facts->start.path);
    print_line(out, "  command       %s", command_text(arena, facts));
    print_line(out, "  process       %d, %" PRIu32 " thread%s", (int)facts->start.process,
               facts->threads, facts->threads == 1 ? "" : "s");
    print_line(out, "  began         %s", time_text(arena, facts->start.seconds));
    for (int i = 0; i < KINDS; i++)
        print_line(out, "  %-13s %" PRIu64, kinds[i].text, facts->events[kinds[i].kind]);
    for (int i = 1; i < NSIG; i++)
        if (facts->signals[i])
            print_line(out, "    %" PRIu64 " of signal %d (%s)", facts->signals[i], i,
                       strsignal(i));
    print_line(out, "  contents      %" PRIu64 " bytes of memory", facts->memory_bytes);
    print_line(out, "  stored in     %" PRIu64 " bytes", facts->file_bytes);
    write_end(out, facts);
}

/* ---- JSON ---- */

void write_json_recording(struct json_writer *json, const struct recording_facts *facts) {
    json_open_object(json, NULL);
    json_string(json, "path", facts->path);
    json_string(json, "program", facts->start.path);
    json_open_array(json, "command");
    for (char **word = facts->argv; *word; word++)
        json_string(json, NULL, *word);
    json_close(json);
    json_unsigned(json, "pid", (uint64_t)facts->start.process);
    json_unsigned(json, "threads", facts->threads);
    json_unsigned(json, "began", facts->start.seconds);
    for (int i = 0; i < KINDS; i++)
        json_unsigned(json, kinds[i].member, facts->events[kinds[i].kind]);
    json_unsigned(json, "written_bytes", facts->memory_bytes);
    json_unsigned(json, "file_bytes", facts->file_bytes);
    json_bool(json, "cut", was_cut(facts));
    if (facts->stopped)
        json_string(json, "stopped", facts->stopped);
    if (facts->ended && WIFEXITED(facts->status))
        json_unsigned(json, "status", (uint64_t)WEXITSTATUS(facts->status));
    if (facts->ended && WIFSIGNALED(facts->status))
        json_unsigned(json, "signal", (uint64_t)WTERMSIG(facts->status));
    json_close(json);
}

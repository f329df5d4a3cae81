/* monitor.c: commands of quipu's own, 'monitor ...' in gdb; see session.h. */
#include "debug/history.h"
#include "debug/program.h"
#include "debug/session.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    HISTORY_USUAL = 10, /* writes that are told */
    HISTORY_MAX = 10000
};

/* Writes TEXT to the client's console, in packets of a bounded size. */
static void tell_bytes(struct session *session, const char *text, size_t size) {
    enum {
        PART = 4096
    };
    for (size_t at = 0; at < size; at += PART) {
        struct buffer packet = {0};
        buffer_text(&packet, "O");
        add_digits(&packet, text + at, size - at < PART ? size - at : (size_t)PART);
        packet_write(&session->connection, packet.data, packet.count);
        buffer_release(&packet);
    }
}

/* The moment of the thread that the user looks at. */
static void tell_moment(struct session *session) {
    struct arena arena = {0};
    struct timeline *timeline = session->timeline;
    struct moment moment = thread_moment(timeline, &arena, shown_thread(session), 0, true);
    if (*moment.text)
        tell(session,
             arena_print(&arena, *moment.line ? "%s  %s\n" : "%s\n", moment.text, moment.line));
    arena_release(&arena);
}

/* The present place, by its moment, its events and instructions. */
static void tell_when(struct session *session, const char *argument) {
    const struct place *here = &session->timeline->here;
    (void)argument;
    if (!here->ended && !is_elsewhere(&session->diversion, session->timeline))
        tell_moment(session);
    tell_line(session, "event %llu", here->events);
    if (here->at_signal)
        tell(session, ", in front of a signal");
    else if (here->ended)
        tell(session, ", the end");
    else if (!is_slice_begin(here))
        tell(session, ", and some instructions");
    tell(session, "\n");
}

void come_to(struct session *session) {
    bool at_signal = session->timeline->here.at_signal;
    session->halt = (struct halt){.kind = at_signal ? HALT_SIGNAL : HALT_STEP};
    session->selected = 0;
    tell(session, "quipu: use 'maintenance flush register-cache' and 'frame' to see it\n");
}

/* Goes to the moment TEXT. */
static bool go_there(struct session *session, const char *text) {
    struct arena arena = {0};
    const char *wrong = go_to_moment(session->timeline, &arena, text);
    if (wrong)
        tell(session, arena_print(&arena, "quipu: '%s': %s\n", text, *wrong ? wrong : "stopped"));
    arena_release(&arena);
    return !wrong;
}

/* Goes to a place, by its moment, or the number of events, or to 'begin' or 'end'. */
static void go(struct session *session, const char *argument) {
    struct timeline *timeline = session->timeline;
    char *end = (char *)argument;
    errno = 0;
    unsigned long long events = strtoull(argument, &end, 10);
    bool good = false;
    leave_diversion(session);
    if (strcmp(argument, "begin") == 0)
        good = go_to_events(timeline, 0);
    else if (strcmp(argument, "end") == 0)
        good = go_to_end(timeline, &(uint64_t){0});
    else if (strchr(argument, '@'))
        good = go_there(session, argument);
    else if (!isdigit((unsigned char)*argument) || *end || errno)
        tell(session, "quipu: name a moment, a number of events, 'begin' or 'end'\n");
    else if (!(good = go_to_events(timeline, events)))
        tell_line(session, "quipu: the recording has no %llu events\n", events);
    if (good)
        come_to(session);
}

/* Returns the number at the end of "EXPRESSION N", behind which TEXT is cut; 0: there is none. */
static size_t take_count(char *text) {
    char *blank = strrchr(text, ' ');
    if (!blank || !isdigit((unsigned char)blank[1]) || blank[1 + strspn(blank + 1, "0123456789")])
        return 0;
    unsigned long long count = strtoull(blank + 1, NULL, 10);
    *blank = '\0';
    return count < HISTORY_MAX ? (size_t)count : HISTORY_MAX;
}

/* Tells the last writes of what an expression reads. */
static void tell_history(struct session *session, const char *argument) {
    struct arena arena = {0};
    char *text = arena_copy(&arena, argument, strlen(argument));
    size_t wanted = HISTORY_USUAL, count = 0;
    struct past_write *writes = ARENA_ARRAY(&arena, struct past_write, HISTORY_MAX);
    leave_diversion(session);
    const char *wrong = *text
                            ? find_history(session->timeline, &arena, text, wanted, writes, &count)
                            : "name an expression, and how many writes of it";
    size_t number = wrong ? take_count(text) : 0;
    if (number)
        wrong = find_history(session->timeline, &arena, text, number, writes, &count);
    for (size_t i = 0; i < count; i++)
        tell(session, arena_print(&arena, "%s  %s  %s -> %s\n", writes[i].moment, writes[i].line,
                                  writes[i].before, writes[i].after));
    if (wrong)
        tell(session, arena_print(&arena, "quipu: '%s': %s\n", text, *wrong ? wrong : "stopped"));
    else if (!count)
        tell(session, "quipu: nothing has written it before\n");
    arena_release(&arena);
}

/* What the program has written up to here. */
static void tell_output(struct session *session, const char *argument) {
    const struct timeline *timeline = session->timeline;
    (void)argument;
    for (size_t i = 0; i < timeline->outputs.count; i++) {
        const struct output *output = &timeline->outputs.data[i];
        if (output->events < timeline->here.events)
            tell_bytes(session, timeline->text.data + output->begin, output->size);
    }
}

static void tell_checkpoints(struct session *session, const char *argument) {
    const struct timeline *timeline = session->timeline;
    (void)argument;
    tell_bookmarks(session);
    for (size_t i = 0; i < timeline->count; i++)
        tell_line(session,
                  timeline->checkpoints[i]->stand.place.base ? "event %llu, and some instructions\n"
                                                             : "event %llu\n",
                  timeline->checkpoints[i]->stand.place.events);
}

static void tell_help(struct session *session, const char *argument);

static const struct {
    const char *name, *help;
    void (*run)(struct session *session, const char *argument);
} commands[] = {
    {"when", "tell where in the recording the thread is", tell_when},
    {"goto", "MOMENT, EVENTS, 'begin' or 'end': go there", go},
    {"history", "EXPRESSION [N]: tell the last N writes of it before here", tell_history},
    {"output", "tell what the program has written up to here", tell_output},
    {"checkpoint", "keep this place, to come back to it", add_bookmark},
    {"restart", "NUMBER: come back to that checkpoint", go_to_bookmark},
    {"checkpoints", "list them, and the places from which others are reached", tell_checkpoints},
    {"help", "tell this", tell_help},
};

static void tell_help(struct session *session, const char *argument) {
    struct arena arena = {0};
    (void)argument;
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        tell(session,
             arena_print(&arena, "monitor %-12s %s\n", commands[i].name, commands[i].help));
    arena_release(&arena);
}

void take_monitor(struct session *session, const char *line) {
    size_t length = strcspn(line, " ");
    const char *argument = line + length + strspn(line + length, " ");
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strlen(commands[i].name) == length && strncmp(commands[i].name, line, length) == 0) {
            commands[i].run(session, argument);
            answer_text(session, "OK");
            return;
        }
    tell(session, "quipu: there is no such command; 'monitor help' lists them\n");
    answer_text(session, "OK");
}

/* threads.c: the packets that name threads; see session.h.
 *
 * A thread has the number that it had when it was recorded. One thread executes at a time, in the
 * order of the recording, whichever the client continues. The client may look at any. */
#include "debug/program.h"
#include "debug/session.h"

#include <stdint.h>

/* Takes the name of a thread, "pPROCESS.THREAD" or "THREAD"; 0 and -1 are any. Returns its number,
 * or 0. */
static pid_t take_thread(const char **text) {
    uint64_t number = 0;
    if (take_character(text, 'p')) {
        bool any = take_character(text, '-');
        take_number(text, &number);
        if (any || !take_character(text, '.'))
            return 0;
    }
    if (take_character(text, '-') || !take_number(text, &number))
        return 0;
    return (pid_t)number;
}

/* Where it was gone to a moment, its thread is what the user wants to see. */
pid_t stopped_thread(const struct session *session) {
    const struct timeline *timeline = session->timeline;
    if (is_elsewhere(&session->diversion, timeline))
        return session->diversion.beside ? session->diversion.beside : session->diversion.thread;
    return timeline->moment_thread ? timeline->moment_thread : player_thread(timeline->player);
}

pid_t shown_thread(const struct session *session) {
    return session->selected ? session->selected : stopped_thread(session);
}

pid_t selected_thread(const struct session *session) {
    pid_t number = own_number(session->timeline, shown_thread(session));
    return number ? number : timeline_process(session->timeline);
}

static void add_name(const struct session *session, struct buffer *text, pid_t thread) {
    unsigned process = (unsigned)player_number(session->timeline->player);
    if (session->names_processes)
        buffer_print(text, "p%x.", process);
    buffer_print(text, "%x", (unsigned)thread);
}

void answer_thread(struct session *session) {
    add_name(session, &session->answer, stopped_thread(session));
}

void take_selection(struct session *session, const char *text) {
    bool looks = *text == 'g';
    text += *text != '\0';
    pid_t thread = take_thread(&text);
    if (thread && !own_number(session->timeline, thread)) {
        answer_error(session, "there is no such thread");
        return;
    }
    if (looks)
        session->selected = thread;
    else
        session->timeline->stepper = thread;
    answer_text(session, "OK");
}

void take_alive(struct session *session, const char *text) {
    pid_t thread = take_thread(&text);
    if (thread && own_number(session->timeline, thread))
        answer_text(session, "OK");
    else
        answer_error(session, "there is no such thread");
}

void take_first_threads(struct session *session, const char *text) {
    const char *begin = "m";
    pid_t recorded, number;
    size_t at = 0;
    (void)text;
    while (player_next_thread(session->timeline->player, &at, &recorded, &number)) {
        answer_text(session, begin);
        add_name(session, &session->answer, recorded);
        begin = ",";
    }
}

void take_more_threads(struct session *session, const char *text) {
    (void)text;
    answer_text(session, "l");
}

void add_threads(struct session *session, const char *annex, struct buffer *object) {
    pid_t recorded, number;
    size_t at = 0;
    (void)annex;
    buffer_text(object, "<threads>");
    while (player_next_thread(session->timeline->player, &at, &recorded, &number)) {
        buffer_text(object, "<thread id=\"");
        add_name(session, object, recorded);
        buffer_text(object, "\"/>");
    }
    buffer_text(object, "</threads>");
}

void take_stepper(struct session *session, const char *text) {
    while (*text && *text != ':' && *text != ';')
        text++;
    session->timeline->stepper = take_character(&text, ':') ? take_thread(&text) : 0;
}

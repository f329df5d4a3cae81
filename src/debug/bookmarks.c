/* bookmarks.c: places that the user comes back to, 'monitor checkpoint' and 'monitor restart'; see
 * session.h. Each is a copy of the process. */
#include "debug/session.h"

#include <stdlib.h>

/* The place is known by the process that stands there: the checkpoints that it was counted from may
 * go. */
static struct place place_by_state(const struct place *place) {
    struct place other = *place;
    if (is_slice_begin(place) || place->ended)
        return other;
    other.base = NULL;
    other.steps = STEPS_UNKNOWN;
    return other;
}

void add_bookmark(struct session *session, const char *argument) {
    struct stand stand;
    (void)argument;
    leave_diversion(session);
    if (session->bookmark_count == BOOKMARKS_MAX) {
        tell(session, "quipu: there are too many checkpoints\n");
        return;
    }
    if (!copy_here(session->timeline, &stand)) {
        drop_stand(&stand);
        tell(session, "quipu: no checkpoint can be made here\n");
        return;
    }
    stand.place = place_by_state(&stand.place);
    session->bookmarks[session->bookmark_count++] = stand;
    session->timeline->bookmarks = session->bookmarks;
    session->timeline->bookmark_count = session->bookmark_count;
    tell_line(session, "checkpoint %llu", session->bookmark_count);
    tell_line(session, ": event %llu\n", stand.place.events);
}

void tell_bookmarks(struct session *session) {
    for (size_t i = 0; i < session->bookmark_count; i++) {
        tell_line(session, "checkpoint %llu", i + 1);
        tell_line(session, ": event %llu\n", session->bookmarks[i].place.events);
    }
}

void go_to_bookmark(struct session *session, const char *argument) {
    unsigned long number = strtoul(argument, NULL, 10);
    leave_diversion(session);
    if (number == 0 || number > session->bookmark_count) {
        tell(session, "quipu: name a checkpoint by its number; 'monitor checkpoint' makes one\n");
        return;
    }
    if (!go_to_copy(session->timeline, &session->bookmarks[number - 1])) {
        tell(session, "quipu: the checkpoint cannot be copied\n");
        return;
    }
    session->timeline->moment_thread = 0;
    come_to(session);
}

void forget_bookmarks(struct session *session) {
    while (session->bookmark_count)
        drop_stand(&session->bookmarks[--session->bookmark_count]);
    session->timeline->bookmark_count = 0;
}

/* answer.c: what all packets need to answer; see session.h. */
#include "debug/session.h"

#include <string.h>
#include <sys/wait.h>

void answer_text(struct session *session, const char *text) {
    buffer_text(&session->answer, text);
}

void answer_error(struct session *session, const char *why) {
    buffer_print(&session->answer, "E.%s", why);
}

void leave_diversion(struct session *session) {
    if (session->diversion.active)
        keep_client_memory(session);
    if (end_diversion(&session->diversion, session->timeline))
        tell(session, "quipu: what was changed is dropped; the run goes on as it was recorded\n");
    session->signal = 0;
}

static const char no_change[] = "no copy of the process can be made, which could be changed";

bool may_change(struct session *session) {
    bool fresh = !session->diversion.active;
    if (!begin_diversion(&session->diversion, session->timeline)) {
        answer_error(session, no_change);
        return false;
    }
    if (fresh)
        map_client_memory(session);
    return true;
}

void tell(struct session *session, const char *text) {
    struct buffer packet = {0};
    buffer_text(&packet, "O");
    add_digits(&packet, text, strlen(text));
    packet_write(&session->connection, packet.data, packet.count);
    buffer_release(&packet);
}

void tell_line(struct session *session, const char *format, unsigned long long number) {
    struct arena arena = {0};
    tell(session, arena_print(&arena, format, number));
    arena_release(&arena);
}

const char *describe_end(struct arena *arena, struct timeline *timeline) {
    const struct playing *playing = player_playing(timeline->player);
    switch (playing->end) {
    case PLAYED_END:
        return WIFSIGNALED(playing->status)
                   ? arena_print(arena, "the program was ended here by signal %d (%s)",
                                 WTERMSIG(playing->status), strsignal(WTERMSIG(playing->status)))
                   : arena_print(arena, "the program has ended here with status %d",
                                 WEXITSTATUS(playing->status));
    case PLAYED_CUT:
        return "the recording was cut here";
    case PLAYED_STOPPED:
        return arena_print(arena, "the recording ends here, while the program went on: %s",
                           playing->message);
    default:
        return playing->message ? playing->message : "the replay ends here";
    }
}

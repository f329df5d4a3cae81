/* server.c: a session, and the table of its packets; see server.h.
 *
 * gdb's manual, "Remote Serial Protocol". What is not in the table gets an empty answer, which says
 * that. */
#include "debug/server.h"

#include "debug/program.h"
#include "debug/session.h"

#include <string.h>

/* ---- packets ---- */

static void take_reason(struct session *session, const char *text) {
    (void)text;
    answer_halt(session);
}

static void take_nothing(struct session *session, const char *text) {
    (void)text;
    answer_text(session, "OK");
}

static void take_kill(struct session *session, const char *text) {
    (void)text;
    session->connection.ended = true;
}

static void take_leave(struct session *session, const char *text) {
    (void)text;
    answer_text(session, "OK");
    packet_write(&session->connection, session->answer.data, session->answer.count);
    session->connection.ended = true;
}

/* Takes "KIND,ADDRESS,SIZE". TEXT becomes what is behind it. */
static bool read_point(const char **text, enum point_kind *kind, uint64_t *address, size_t *size) {
    uint64_t number, length;
    if (!take_number(text, &number) || number >= POINT_KINDS || !take_character(text, ',') ||
        !take_number(text, address) || !take_character(text, ',') || !take_number(text, &length))
        return false;
    *kind = (enum point_kind)number;
    *size = length;
    return true;
}

static void take_point(struct session *session, const char *text) {
    enum point_kind kind;
    uint64_t address;
    size_t size;
    struct points *points = &session->timeline->points;
    struct point_condition *conditions = NULL;
    if (!read_point(&text, &kind, &address, &size))
        return; /* a kind that is not known */
    const char *wrong = conditions_read(text, &conditions);
    if (!wrong)
        wrong = points_add(points, kind, address, size);
    if (wrong) {
        conditions_free(conditions);
        answer_error(session, wrong);
    } else {
        points_set_conditions(points, kind, address, size, conditions);
        answer_text(session, "OK");
    }
}

static void take_point_away(struct session *session, const char *text) {
    enum point_kind kind;
    uint64_t address;
    size_t size;
    if (!read_point(&text, &kind, &address, &size))
        return;
    points_remove(&session->timeline->points, kind, address, size);
    answer_text(session, "OK");
}

static void answer_actions(struct session *session, const char *text) {
    (void)text;
    answer_text(session, "vCont;c;C;s;S;r");
}

/* By the begin of their texts; longer ones first. */
static const struct {
    const char *begin;
    void (*take)(struct session *session, const char *text);
} packets[] = {
    {"vCont?", answer_actions},
    {"vCont;", take_actions},
    {"vFile:", take_host_file},
    {"vRun", take_run},
    {"vKill", take_nothing}, /* 'run' may follow */
    {"_M", take_allocation},
    {"_m", take_release},
    {"vMustReplyEmpty", NULL},
    {"?", take_reason},
    {"!", take_nothing},
    {"H", take_selection},
    {"T", take_alive},
    {"q", take_query},
    {"Q", take_setting},
    {"g", take_registers_read},
    {"G", take_registers_write},
    {"p", take_register_read},
    {"P", take_register_write},
    {"m", take_memory_read},
    {"M", take_memory_write},
    {"c", take_continue},
    {"C", take_signal_continue},
    {"s", take_step},
    {"S", take_signal_step},
    {"b", take_backward},
    {"Z", take_point},
    {"z", take_point_away},
    {"R", take_run},
    {"k", take_kill},
    {"D", take_leave},
};

static void take_packet(struct session *session, const struct buffer *packet) {
    if (packet->count && *packet->data == 'X') {
        take_binary_write(session, packet->data + 1, packet->count - 1);
        return;
    }
    for (size_t i = 0; i < sizeof packets / sizeof *packets; i++) {
        size_t length = strlen(packets[i].begin);
        if (strncmp(packet->data, packets[i].begin, length) != 0)
            continue;
        if (packets[i].take)
            packets[i].take(session, packet->data + length);
        return;
    }
}

static bool is_interrupted(void *context) {
    struct session *session = context;
    return packet_interrupts(&session->connection);
}

static void divert_output(void *context, const char *bytes, size_t size) {
    struct arena arena = {0};
    tell(context, arena_copy(&arena, bytes, size));
    arena_release(&arena);
}

void serve(struct timeline *timeline, int fd) {
    static struct session session;
    struct buffer packet = {0};
    session = (struct session){.timeline = timeline};
    session.connection = (struct connection){.in = fd, .out = fd};
    session.halt.kind = timeline->here.at_signal ? HALT_SIGNAL : HALT_STEP;
    session.program = timeline->program;
    timeline->passed_signals = 0;
    timeline->is_interrupted = is_interrupted;
    timeline->divert_output = divert_output;
    timeline->context = &session;
    while (!session.connection.ended && packet_read(&session.connection, &packet)) {
        session.answer.count = 0;
        buffer_add(&session.answer, "", 0);
        take_packet(&session, &packet);
        packet_write(&session.connection, session.answer.data, session.answer.count);
    }
    end_diversion(&session.diversion, timeline);
    forget_client_memory(&session);
    forget_bookmarks(&session);
    timeline->is_interrupted = NULL;
    timeline->divert_output = NULL;
    buffer_release(&packet);
    buffer_release(&session.answer);
}

/* ---- the begin ---- */

static const char *go_to_last_signal(struct timeline *timeline) {
    uint64_t events = UINT64_MAX;
    struct halt halt;
    go_to_end(timeline, &events);
    if (events == UINT64_MAX)
        return "there is no signal in the recording";
    if (!go_to_events(timeline, events))
        return "the signal is not reached again";
    do
        halt = go_forwards(timeline, false);
    while (halt.kind != HALT_SIGNAL && halt.kind != HALT_END);
    return halt.kind == HALT_SIGNAL ? NULL : "the signal is not reached again";
}

const char *begin_session(struct timeline *timeline, const struct session_place *place) {
    uint64_t events = place->events;
    const char *wrong;
    switch (place->begin) {
    case SESSION_END:
        go_to_end(timeline, &events);
        return NULL;
    case SESSION_PROGRAM:
        go_to_end(timeline, &events);
        return go_to_events(timeline, timeline->program) ? NULL
                                                         : "the program is not reached again";
    case SESSION_SIGNAL:
        return go_to_last_signal(timeline);
    case SESSION_MOMENT:
        wrong = go_to_moment(timeline, timeline->arena, place->moment);
        return wrong ? arena_print(timeline->arena, "'%s': %s", place->moment, wrong) : NULL;
    case SESSION_EVENTS:
        return go_to_events(timeline, events)
                   ? NULL
                   : arena_print(timeline->arena,
                                 "--at=%llu: the recording '%s' has only %llu events",
                                 (unsigned long long)events, timeline->path,
                                 (unsigned long long)player_events(timeline->player));
    default:
        return NULL;
    }
}

/* follow.c: objects that pointers lead to; see follow.h.
 *
 * An array's descriptor is no pointer that a user has written, so it is gone along with in any
 * case: when a program has set its elements' place, it may not have set its bounds yet.
 *
 * Where it is not perfect: a process that is forked has the regions of the one that forked it, and
 * changes of its pointers move them for both. */
#include "watch/follow.h"

#include "tracee/tracee.h"

#include <string.h>

enum {
    NULL_PAGE = 4096 /* below that nothing is pointed to */
};

/* A region on the way, or the object itself. */
struct stage {
    const struct node *node;
    uint64_t size;
    uint64_t address; /* 0: nowhere now */
    uint32_t request; /* REQUESTS_MAX: none */
};

/* The way to one object. */
struct follow {
    VECTOR(struct stage) stages; /* the object is the last; none: its address is fixed */
    bool is_found;               /* and not to be looked for any more */
};

bool follow_begin(struct session *session) {
    bool any = false;
    struct follow *ways = ARENA_ARRAY(&session->arena, struct follow, session->watched.count);
    for (size_t i = 0; i < session->watched.count; i++) {
        const struct watched *watched = &session->watched.data[i];
        struct follow *way = &ways[i];
        for (size_t j = 0; j < watched->object.way.objects.count; j++) {
            const struct node *node = watched->object.way.objects.data[j];
            struct stage stage = {.node = node, .size = node->type.size, .request = REQUESTS_MAX};
            vector_push(&session->arena, &way->stages, stage);
        }
        if (!way->stages.count)
            continue;
        any = true;
        vector_push(&session->arena, &way->stages,
                    ((struct stage){.node = watched->object.node,
                                    .size = watched->size,
                                    .request = REQUESTS_MAX}));
    }
    session->ways = any ? ways : NULL;
    return any;
}

static void drop(struct session *session, struct stage *stage) {
    if (stage->request != REQUESTS_MAX)
        __atomic_store_n(&session->ring.requests[stage->request].state, QUIPU_REQUEST_UNWANTED,
                         __ATOMIC_RELEASE);
    stage->request = REQUESTS_MAX;
    stage->address = 0;
}

/* STAGE, the last where IS_LAST, is at ADDRESS; 0: nowhere. */
static void move(struct session *session, uint32_t number, struct stage *stage, uint64_t address,
                 bool is_last) {
    if (address == stage->address)
        return;
    drop(session, stage);
    stage->address = address;
    if (!address)
        return;
    struct quipu_watch_request request = {
        .address = address,
        .size = stage->size,
        .flags = is_last ? flags_of(session, &session->watched.data[number])
                         : QUIPU_REQUEST_WAITS | QUIPU_REQUEST_CHANGES};
    stage->request = ask(session, &request, (struct role){number, !is_last});
}

/* Goes the way to the object NUMBER anew, in PROCESS, which waits. */
static void go(struct session *session, uint32_t number, pid_t process) {
    struct follow *way = &session->ways[number];
    struct process_memory memory = process_memory(
        process, bias_for(session, &session->watched.data[number], (uint32_t)process));
    for (size_t i = 0; i < way->stages.count && !way->is_found; i++) {
        struct stage *stage = &way->stages.data[i];
        uint64_t address = 0;
        if (!object_address(stage->node, &memory.memory, &address) || address < NULL_PAGE)
            address = 0;
        move(session, number, stage, address, i + 1 == way->stages.count);
    }
    struct stage *last = &way->stages.data[way->stages.count - 1];
    bool follows = session->options.follow || session->watched.data[number].object.is_described;
    if (follows || !last->address)
        return;
    way->is_found = true;
    for (size_t i = 0; i + 1 < way->stages.count; i++)
        drop(session, &way->stages.data[i]);
}

uint64_t follow_place(struct session *session) {
    const struct binary *binary = session->binary;
    for (size_t i = 0; i < binary->names.count; i++)
        if (strcmp(binary->names.data[i].name, "quipu_watch_start") == 0)
            return binary->names.data[i].address;
    return session->program.entry;
}

void follow_start(struct session *session) {
    for (uint32_t i = 0; i < session->watched.count; i++)
        if (session->ways[i].stages.count)
            go(session, i, session->program.process);
}

uint32_t follow_hit(struct session *session, uint32_t watched, const struct quipu_hit *hit) {
    if (session->ways[watched].is_found)
        return QUIPU_ANSWER_GO_ON | QUIPU_ANSWER_LOOK;
    go(session, watched, (pid_t)hit->record.pid);
    return QUIPU_ANSWER_GO_ON | QUIPU_ANSWER_LOOK;
}

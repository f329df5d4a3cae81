/* follow.c: objects that are reached through pointers; see follow.h.
 *
 * The descriptor of a Fortran array is not a pointer in the source, so it is followed without
 * --follow, too: the program may set the address of the elements first, and the bounds later.
 *
 * Not perfect: a forked process has its parent's regions, and a change of its pointers moves them
 * for both processes. */
#include "watch/follow.h"

#include "tracee/tracee.h"

#include <string.h>

/* A pointer that is read to find the object, or the object itself. */
struct stage {
    const struct node *node;
    uint64_t size;
    uint64_t address; /* 0: it does not exist at present */
    uint32_t request; /* REQUESTS_MAX: none */
};

/* The pointers to one object, in the order in which they are read. */
struct path {
    VECTOR(struct stage) stages; /* the last one is the object; empty: its address is fixed */
    bool is_found;               /* it is not followed any more */
};

bool follow_begin(struct session *session) {
    bool any = false;
    struct path *paths = ARENA_ARRAY(&session->arena, struct path, session->watched.count);
    for (size_t i = 0; i < session->watched.count; i++) {
        const struct watched *watched = &session->watched.data[i];
        struct path *path = &paths[i];
        for (size_t j = 0; j < watched->object.path.objects.count; j++) {
            const struct node *node = watched->object.path.objects.data[j];
            struct stage stage = {.node = node, .size = node->type.size, .request = REQUESTS_MAX};
            vector_push(&session->arena, &path->stages, stage);
        }
        if (!path->stages.count)
            continue;
        any = true;
        vector_push(&session->arena, &path->stages,
                    ((struct stage){.node = watched->object.node,
                                    .size = watched->size,
                                    .request = REQUESTS_MAX}));
    }
    session->paths = any ? paths : NULL;
    return any;
}

static void drop(struct session *session, struct stage *stage) {
    if (stage->request != REQUESTS_MAX)
        __atomic_store_n(&session->ring.requests[stage->request].state, QUIPU_REQUEST_UNWANTED,
                         __ATOMIC_RELEASE);
    stage->request = REQUESTS_MAX;
    stage->address = 0;
}

/* STAGE is now at ADDRESS, or nowhere if that is 0. IS_LAST: it is the object. */
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

/* Reads the pointers to object NUMBER again, in PROCESS, whose thread waits. */
static void go(struct session *session, uint32_t number, pid_t process) {
    struct path *path = &session->paths[number];
    struct process_memory memory = process_memory(
        process, bias_for(session, &session->watched.data[number], (uint32_t)process));
    for (size_t i = 0; i < path->stages.count && !path->is_found; i++) {
        struct stage *stage = &path->stages.data[i];
        uint64_t address = 0;
        if (!object_address(stage->node, &memory.memory, &address) || address < NULL_PAGE)
            address = 0;
        move(session, number, stage, address, i + 1 == path->stages.count);
    }
    struct stage *last = &path->stages.data[path->stages.count - 1];
    bool follows = session->options.follow || session->watched.data[number].object.is_described;
    if (follows || !last->address)
        return;
    path->is_found = true;
    for (size_t i = 0; i + 1 < path->stages.count; i++)
        drop(session, &path->stages.data[i]);
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
        if (session->paths[i].stages.count)
            go(session, i, session->program.process);
}

uint32_t follow_hit(struct session *session, uint32_t watched, const struct quipu_hit *hit) {
    if (session->paths[watched].is_found)
        return QUIPU_ANSWER_GO_ON | QUIPU_ANSWER_LOOK;
    go(session, watched, (pid_t)hit->record.pid);
    return QUIPU_ANSWER_GO_ON | QUIPU_ANSWER_LOOK;
}

/* route.c: the path without records from a piece to what follows.
 *
 * Records are on the chords of a spanning tree, so there is at most one path (Mazieres and Smith
 * 1994, section 2.2.2). What was found is kept, by source and goal. */
#include "trace/trace.h"

struct search {
    struct traced_function *function;
    struct goal goal;
    bool *seen; /* by piece, then by hub */
};

static bool leads(struct search *search, uint32_t edge);

/* Returns the first edge from SOURCE that leads to the goal, or NONE_OF. */
static uint32_t find_edge(struct search *search, uint32_t source) {
    const struct traced_function *function = search->function;
    for (uint32_t i = 0; i < function->edge_count; i++)
        if (function->edges[i].source == source && leads(search, i))
            return i;
    return NONE_OF;
}

static bool is_goal_record(const struct search *search, uint32_t record) {
    return search->goal.kind == GOAL_RECORD && search->goal.index + 1 == record;
}

static bool leads(struct search *search, uint32_t edge) {
    struct traced_function *function = search->function;
    const struct path_edge *e = &function->edges[edge];
    if (e->record && is_goal_record(search, e->record))
        return true;
    if (e->record && !has_tail_result(function, e))
        return false;
    if (e->target == 0)
        return search->goal.kind == GOAL_OUTSIDE;
    if (e->target > function->piece_count) {
        bool seen = search->seen[e->target - 1];
        search->seen[e->target - 1] = true;
        return !seen && find_edge(search, e->target) != NONE_OF;
    }
    uint32_t piece = e->target - 1;
    const struct piece *target = &function->pieces[piece];
    if (search->goal.kind == GOAL_PIECE && search->goal.index == piece)
        return true;
    if (target->record)
        return is_goal_record(search, target->record);
    if (search->seen[piece])
        return false;
    search->seen[piece] = true;
    for (uint32_t i = 0; i < target->edge_count; i++)
        if (leads(search, target->first_edge + i))
            return true;
    return false;
}

struct route_key {
    uint32_t source, kind, index;
};

/* Finds the route in the map of all, or searches for it. */
static uint32_t look_up(struct arena *arena, struct traced_function *function, uint32_t source,
                        struct goal goal) {
    struct route_key key = {source, goal.kind, goal.index};
    uint32_t *known = map_find(&function->routes, (const char *)&key, sizeof key);
    if (known)
        return *known;
    struct arena scratch = {0};
    size_t count = function->piece_count + (size_t)function->hub_count;
    struct search search = {function, goal, ARENA_ARRAY(&scratch, bool, count)};
    uint32_t found = find_edge(&search, source);
    arena_release(&scratch);
    map_add_copy(arena, &function->routes, &key, sizeof key, found);
    return found;
}

uint32_t find_route(struct arena *arena, struct traced_function *function, uint32_t source,
                    struct goal goal) {
    if (source > function->piece_count)
        return look_up(arena, function, source, goal);
    struct route *last =
        &function->pieces[source - 1].routes[(goal.kind + goal.index) % ROUTES_RECENT];
    if (!last->known || last->kind != goal.kind || last->index != goal.index)
        *last = (struct route){true, goal.kind, goal.index, look_up(arena, function, source, goal)};
    return last->edge;
}

/* checkpoints.c: copies of the present process, and going to them; see timeline.h.
 *
 * invariant: checkpoints are in the order of time. Of one slice's, each was made on a way from the
 * one in front of it, as the order of others is not known.
 *
 * Their number is bounded, and so is the memory that they take. Where there are too many, one goes
 * that is close to its neighbours and far from the present place: so they are the closer, the
 * nearer they are. */
#include "debug/call_site.h"
#include "debug/memory_bound.h"
#include "debug/program.h"

#include "tracee/checkpoint.h"
#include "util/clock.h"

#include <stdlib.h>
#include <string.h>

void drop_stand(struct stand *stand) {
    drop_process(&stand->process);
}

bool is_slice_begin(const struct place *place) {
    return !place->base && place->steps == 0 && !place->ended;
}

/* ---- the list ---- */

/* Returns the index of the first checkpoint behind HERE. */
static size_t index_behind(const struct timeline *timeline, const struct place *here) {
    size_t i = 0;
    while (i < timeline->count) {
        const struct place *place = &timeline->checkpoints[i]->stand.place;
        if (place->events > here->events ||
            (place->events == here->events && place->base && !here->base))
            break;
        i++;
        if (here->base && timeline->checkpoints[i - 1] == here->base)
            break;
    }
    return i;
}

/* Leaves of what is known of the pages of ONE only what is known of OTHER, too. */
static void keep_common(struct checkpoint *one, const struct checkpoint *other) {
    size_t kept = 0;
    for (size_t i = 0; i < one->unwritten_count; i++)
        for (size_t j = 0; j < other->unwritten_count; j++)
            if (one->unwritten[i] == other->unwritten[j]) {
                one->unwritten[kept++] = one->unwritten[i];
                break;
            }
    one->unwritten_count = kept;
}

/* MADE is between FORMER and what was the next one. */
static void inherit(struct checkpoint *made, const struct checkpoint *former) {
    made->unwritten_count = former->unwritten_count;
    memcpy(made->unwritten, former->unwritten, sizeof made->unwritten);
}

static void remove_at(struct timeline *timeline, size_t index) {
    keep_common(timeline->checkpoints[index - 1], timeline->checkpoints[index]);
    drop_stand(&timeline->checkpoints[index]->stand);
    free(timeline->checkpoints[index]);
    timeline->count--;
    memmove(&timeline->checkpoints[index], &timeline->checkpoints[index + 1],
            (timeline->count - index) * sizeof *timeline->checkpoints);
}

/* Removes the one that is missed least; never the first, nor one that is in use. Returns false if
 * there is no other. */
static bool thin_out(struct timeline *timeline) {
    size_t least = 0;
    double least_missed = 0;
    for (size_t i = 1; i + 1 < timeline->count; i++) {
        struct checkpoint *const *at = &timeline->checkpoints[i];
        if (at[0] == timeline->here.base || at[0] == timeline->pinned || at[0] == timeline->working)
            continue;
        double gap = (double)(at[1]->stand.clock - at[-1]->stand.clock);
        double distance = (double)at[0]->stand.clock - (double)timeline->clock;
        double missed = gap / ((distance < 0 ? -distance : distance) + 1);
        if (!least || missed < least_missed) {
            least = i;
            least_missed = missed;
        }
    }
    if (least)
        remove_at(timeline, least);
    return least;
}

/* Whether the checkpoints take more memory than they may. That is not looked at closely while they
 * could not, even if each had all memory of its own. */
static bool takes_too_much(const struct timeline *timeline) {
    uint64_t bytes = 0, most = resident_memory(timeline_process(timeline));
    if (most * (timeline->count + 1) <= timeline->memory)
        return false;
    for (size_t i = 0; i < timeline->count; i++)
        bytes += shared_out_memory(timeline->checkpoints[i]->stand.process);
    return bytes > timeline->memory;
}

/* Inserts a checkpoint, which was made at PLACE. The order of PLACE and later ones of its slice is
 * not known, so these go; but not the pinned one, which is behind it. */
static bool insert(struct timeline *timeline, struct checkpoint *checkpoint,
                   const struct place *place) {
    if (timeline->count == CHECKPOINTS_MAX)
        thin_out(timeline);
    while (takes_too_much(timeline) && thin_out(timeline))
        ;
    if (timeline->count == CHECKPOINTS_MAX)
        return false;
    size_t index = index_behind(timeline, place);
    while (checkpoint->stand.place.base && index < timeline->count &&
           timeline->checkpoints[index]->stand.place.events == place->events &&
           timeline->checkpoints[index] != timeline->pinned)
        remove_at(timeline, index);
    memmove(&timeline->checkpoints[index + 1], &timeline->checkpoints[index],
            (timeline->count - index) * sizeof *timeline->checkpoints);
    timeline->checkpoints[index] = checkpoint;
    timeline->count++;
    if (index)
        inherit(checkpoint, timeline->checkpoints[index - 1]);
    return true;
}

struct checkpoint *checkpoint_for(const struct timeline *timeline, uint64_t events) {
    struct checkpoint *found = timeline->checkpoints[0];
    for (size_t i = 0; i < timeline->count; i++) {
        const struct place *place = &timeline->checkpoints[i]->stand.place;
        if (place->events < events || (place->events == events && !place->base))
            found = timeline->checkpoints[i];
    }
    return found;
}

struct checkpoint *checkpoint_before(const struct timeline *timeline, const struct place *place) {
    struct checkpoint *found = NULL;
    bool is_begin = is_slice_begin(place);
    for (size_t i = 0; i < timeline->count; i++) {
        struct checkpoint *checkpoint = timeline->checkpoints[i];
        const struct place *other = &checkpoint->stand.place;
        if (other->events > place->events || (other->events == place->events && is_begin))
            break;
        if (other->events == place->events && other->base && !place->base && !place->ended)
            break;
        if (checkpoint == place->base && place->steps == 0 && !place->at_signal)
            break;
        found = checkpoint;
        if (checkpoint == place->base)
            break;
    }
    return found;
}

/* ---- copies ---- */

bool copy_here(struct timeline *timeline, struct stand *stand) {
    pid_t process = timeline_process(timeline);
    take_points_out(timeline);
    *stand = (struct stand){0, player_save(timeline->player), timeline->here, timeline->clock};
    if (!process || !player_settle(timeline->player))
        return false;
    if (!is_call_site(process, timeline->site))
        timeline->site = find_call_site(process);
    return timeline->site &&
           !copy_process(timeline->arena, process, timeline->site, &stand->process);
}

struct checkpoint *keep_stand(struct timeline *timeline, struct stand *stand) {
    struct checkpoint *made = calloc(1, sizeof *made);
    if (made) {
        made->stand = *stand;
        if (!is_slice_begin(&stand->place))
            made->stand.place = (struct place){.events = stand->place.events, .base = made};
        if (insert(timeline, made, &stand->place)) {
            stand->process = 0;
            return made;
        }
    }
    free(made);
    drop_stand(stand);
    return NULL;
}

struct checkpoint *keep_here(struct timeline *timeline) {
    struct place *here = &timeline->here;
    struct stand stand;
    if (here->at_signal || here->ended)
        return NULL;
    timeline->kept = timeline->clock;
    for (size_t i = 0; i < timeline->count; i++) {
        const struct place *place = &timeline->checkpoints[i]->stand.place;
        if (here->steps == 0 && place->events == here->events && place->base == here->base)
            return timeline->checkpoints[i];
    }
    double begun = clock_seconds();
    if (!copy_here(timeline, &stand)) {
        drop_stand(&stand);
        return NULL;
    }
    timeline->copying = (timeline->copying + (uint64_t)((clock_seconds() - begun) * 1e6)) / 2;
    struct checkpoint *made = keep_stand(timeline, &stand);
    if (made)
        *here = made->stand.place;
    return made;
}

/* Its program is read now, if it was not: without a process it cannot be. */
void take_here(struct timeline *timeline, struct stand *stand) {
    (void)program_of(timeline);
    take_points_out(timeline);
    player_settle(timeline->player);
    *stand = (struct stand){timeline_process(timeline), player_save(timeline->player),
                            timeline->here, timeline->clock};
    stand->state.whole = true;
    player_restore(timeline->player, &stand->state, 0, 0);
}

/* WHOLE: PROCESS is the stand's own. */
static bool stand_here(struct timeline *timeline, const struct stand *stand, pid_t process,
                       bool whole) {
    struct play_state state = stand->state;
    state.whole = whole;
    pid_t former = timeline_process(timeline);
    take_points_out(timeline);
    bool good = !player_restore(timeline->player, &state, process, timeline->site);
    drop_process(&former);
    if (!good)
        return false;
    timeline->here = stand->place;
    timeline->clock = stand->clock;
    notice_program(timeline);
    if (process)
        points_look(&timeline->points, process);
    return true;
}

bool go_to_stand(struct timeline *timeline, struct stand *stand) {
    pid_t process = stand->process;
    stand->process = 0;
    return stand_here(timeline, stand, process, stand->state.whole);
}

bool go_to_copy(struct timeline *timeline, const struct stand *stand) {
    pid_t copy;
    if (!is_call_site(stand->process, timeline->site))
        timeline->site = find_call_site(stand->process);
    return timeline->site &&
           !copy_process(timeline->arena, stand->process, timeline->site, &copy) &&
           stand_here(timeline, stand, copy, false);
}

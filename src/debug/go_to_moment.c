/* go_to_moment.c: goes to a moment by its name; see program.h.
 *
 * The ticks of a thread never decrease. So the way begins at the last checkpoint at which the
 * thread has less than the wanted ones. Up to shortly in front of them an alarm of the player
 * leads, and the rest goes by breakpoints at the moment's instruction: at each of them the ticks
 * are read.
 *
 * Where the program has no additions that can stop it, the thread may come too far. Then the slice
 * in which it has is gone again by breakpoints alone. So is the way to a moment of a shared object:
 * from the last checkpoint at which the thread has less of the object's ticks. */
#include "debug/program.h"
#include "debug/server.h"

#include "symbols/moment_name.h"
#include "util/clock.h"

#include <string.h>

enum {
    NEAR = 1024, /* ticks; so many passes of a breakpoint take some 30 milliseconds */
    LOOKS = 20   /* for a shared object, at so many events behind one that has mapped memory */
};

struct aim {
    struct timeline *timeline;
    struct arena *arena;
    const char *thread; /* its name; NULL: not known */
    uint64_t number;    /* if that is so: as quipu_now numbers it */
    uint64_t ticks;
    pid_t recorded; /* the thread's number; 0: not known yet */

    /* at the last look */
    struct thread_ticks now;
    bool has_ticks, has_ended;
    uint64_t calls;  /* that it has begun */
    uint64_t before; /* that it had begun when it had less ticks */
    uint64_t events; /* of the last look at which it had less ticks */

    /* of go_to_moment */
    struct moment_name name;
    const struct played_program *module; /* in whose ticks it is; NULL: not found yet */
    unsigned looks;                      /* for it that are left, since memory was mapped */
    uint64_t serial;               /* of the program in which the places were looked for; 0: none */
    address_list places;           /* in the process */
    const char *wrong;             /* why it has none */
    bool is_careful;               /* goes by breakpoints alone */
    uint64_t before_it, behind_it; /* ticks at which the thread came by last, and then */
};

/* ---- looks ---- */

static bool look_at_ticks(struct aim *aim, pid_t recorded) {
    const struct played_program *module = aim->module ? aim->module : program_of(aim->timeline);
    return read_module_ticks(aim->timeline, module, recorded, 0, &aim->now);
}

/* The thread whose name is not known may be the one that has played last. */
static void find_thread(struct aim *aim) {
    struct player *player = aim->timeline->player;
    aim->has_ended = false;
    if (aim->thread)
        aim->recorded = player_find_name(player, aim->thread, &aim->has_ended);
    else if (!aim->recorded && look_at_ticks(aim, player_thread(player)) &&
             aim->now.number == aim->number)
        aim->recorded = player_thread(player);
}

static void look(struct aim *aim) {
    find_thread(aim);
    aim->has_ticks = aim->recorded && !aim->has_ended && look_at_ticks(aim, aim->recorded);
    aim->calls = player_calls(aim->timeline->player, aim->recorded);
    if (aim->has_ended || (aim->has_ticks && aim->now.exact >= aim->ticks))
        return;
    aim->before = aim->calls;
    aim->events = aim->timeline->here.events;
}

/* Whether the thread, at the last look, had not come to its ticks. */
static bool is_before(const struct aim *aim) {
    return !aim->has_ended && (!aim->has_ticks || aim->now.exact < aim->ticks);
}

/* Goes to a copy of the last checkpoint at which the thread has not come to its ticks; the first
 * one, if there is none. */
static bool go_to_start(struct aim *aim) {
    struct timeline *timeline = aim->timeline;
    size_t low = 0, high = aim->thread && aim->module ? timeline->count : 1;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (!go_to_copy(timeline, &timeline->checkpoints[middle]->stand))
            return false;
        look(aim);
        if (is_before(aim))
            low = middle;
        else
            high = middle;
    }
    return go_to_copy(timeline, &timeline->checkpoints[low]->stand);
}

uint64_t count_calls(struct timeline *timeline, pid_t recorded, uint64_t ticks) {
    struct aim aim = {.timeline = timeline,
                      .module = program_of(timeline),
                      .thread = player_thread_name(timeline->player, recorded),
                      .ticks = ticks};
    struct stand origin;
    struct halt halt = {.kind = HALT_EVENT};
    uint64_t events = timeline->here.events, calls = player_calls(timeline->player, recorded);
    pid_t shown = timeline->moment_thread;
    begin_motion(timeline);
    timeline->pinned = timeline->here.base;
    take_here(timeline, &origin);
    bool good = go_to_start(&aim);
    set_stops(timeline, true, 0);
    look(&aim);
    while (good && timeline->here.events < events && halt.kind != HALT_INTERRUPT &&
           halt.kind != HALT_END && is_before(&aim)) {
        halt = advance(timeline, false);
        look(&aim);
    }
    go_to_stand(timeline, &origin);
    timeline->pinned = NULL;
    end_motion(timeline);
    timeline->moment_thread = shown;
    return good ? calls - aim.before : 0;
}

/* ---- the way ---- */

/* Whether the moment may be one of the MODULE. */
static bool may_be_in(void *context, const struct played_program *module) {
    const struct aim *aim = context;
    const struct binary *binary = module->binary;
    address_list places = {0};
    if (!binary || !module->cells)
        return false;
    if (*aim->name.build)
        return is_build_id(binary->build_id, binary->build_id_size, aim->name.build);
    return aim->name.calls || !find_places(aim->arena, binary, &aim->name, &places);
}

/* Finds the moment's instructions in the module MAY_BE; NULL: in the program, which has none. */
static void find_in_module(struct aim *aim, const struct played_program *may_be) {
    struct timeline *timeline = aim->timeline;
    const struct played_program *module = may_be ? may_be : program_of(timeline);
    aim->module = may_be;
    aim->places.count = 0;
    take_points_out(timeline);
    points_clear(&timeline->points);
    if (!module->cells) {
        aim->wrong = "the program was not built with '--quipu=moment', or its symbols were "
                     "stripped; name a number of events";
        return;
    }
    aim->wrong =
        aim->name.calls ? NULL : find_places(aim->arena, module->binary, &aim->name, &aim->places);
    for (size_t i = 0; i < aim->places.count; i++) {
        aim->places.data[i] += module->bias;
        points_add(&timeline->points, POINT_SOFTWARE, aim->places.data[i], 1);
    }
}

/* Finds the moment's module, if there is another program, or it may have been loaded just now. */
static void find_module(struct aim *aim) {
    struct timeline *timeline = aim->timeline;
    struct played_program *program = program_of(timeline), *found = program;
    bool is_new = program->serial != aim->serial;
    if (is_new)
        aim->module = NULL;
    if (is_new || player_has_mapped(timeline->player))
        aim->looks = LOOKS;
    if (aim->module || !aim->looks)
        return;
    aim->looks--;
    aim->serial = program->serial;
    if (!may_be_in(aim, program))
        found = find_loaded_object(timeline, timeline_process(timeline), may_be_in, aim);
    if (found || is_new)
        find_in_module(aim, found);
}

static bool is_module(void *context, const struct played_program *module) {
    return module == ((const struct aim *)context)->module;
}

/* The moment's module may not be loaded at the place where the way begins. */
static void forget_later_module(struct aim *aim) {
    pid_t process = timeline_process(aim->timeline);
    if (aim->module && aim->module->word_slot &&
        !find_loaded_object(aim->timeline, process, is_module, aim))
        aim->serial = 0;
}

/* Whether the thread stands at one of the places. */
static bool is_at_place(const struct aim *aim) {
    for (size_t i = 0; i < aim->places.count; i++)
        if (aim->places.data[i] == aim->now.position)
            return true;
    return false;
}

static void note_pass(struct aim *aim) {
    if (aim->now.exact < aim->ticks)
        aim->before_it = aim->now.exact;
    else if (aim->now.exact > aim->ticks && aim->behind_it == UINT64_MAX)
        aim->behind_it = aim->now.exact;
}

static bool is_there(struct aim *aim) {
    if (!aim->has_ticks || aim->wrong)
        return false;
    if (aim->name.calls)
        return aim->now.exact == aim->ticks && aim->calls - aim->before == aim->name.calls;
    if (!is_at_place(aim))
        return false;
    note_pass(aim);
    return aim->now.exact == aim->ticks;
}

static bool is_too_far(const struct aim *aim) {
    return aim->has_ended || (aim->has_ticks && aim->now.exact > aim->ticks);
}

/* The thread pauses shortly in front of its moment, or if it is near, at the moment's instruction.
 * Returns whether it is near. */
static bool set_aim(struct aim *aim) {
    struct timeline *timeline = aim->timeline;
    const struct played_program *program = program_of(timeline);
    uint64_t margin = NEAR + 2 * program->most_above, offset = aim->now.raw - aim->now.ticks;
    bool is_object = aim->module && aim->module->word_slot;
    bool is_near =
        is_object || aim->is_careful || !aim->has_ticks || aim->now.ticks + margin >= aim->ticks;
    player_set_alarm(timeline->player, is_near ? 0 : aim->recorded, aim->ticks - margin + offset);
    bool looks = is_object || (is_near && aim->has_ticks);
    set_stops(timeline, !looks, 0);
    return looks;
}

/* The thread has come too far, since it could not be stopped. Goes back to where it had not. */
static bool begin_again(struct aim *aim) {
    if (aim->is_careful || !go_to_events(aim->timeline, aim->events))
        return false;
    begin_motion(aim->timeline);
    aim->is_careful = true;
    look(aim);
    return true;
}

static const char *missed(const struct aim *aim) {
    const char *name = aim->name.thread_name;
    unsigned long long ticks = aim->ticks, before = aim->before_it, behind = aim->behind_it;
    if (!aim->recorded)
        return arena_print(aim->arena, "the recording has no thread %s%s", name,
                           "; 'quipu info' lists its threads");
    if (aim->wrong)
        return aim->wrong;
    if (aim->name.calls)
        return arena_print(aim->arena, "thread %s has begun %llu system calls at tick %llu", name,
                           (unsigned long long)(aim->calls - aim->before), ticks);
    const char *first = before == UINT64_MAX
                            ? ""
                            : arena_print(aim->arena, "; it came by last at tick %llu", before);
    const char *second =
        behind == UINT64_MAX ? "" : arena_print(aim->arena, "; it came by at tick %llu", behind);
    return arena_print(aim->arena, "thread %s was not there at tick %llu%s%s", name, ticks, first,
                       second);
}

/* Goes on to the moment. Returns NULL, or a message. On its way to the alarm the thread has other
 * cells than without, and a program that asks for its moments has them in its registers: no
 * checkpoint is made there, as it would not be found on another way. */
static const char *approach(struct aim *aim) {
    struct timeline *timeline = aim->timeline;
    for (;;) {
        find_module(aim);
        look(aim);
        if (is_there(aim))
            return NULL;
        if (is_too_far(aim) && !begin_again(aim))
            return missed(aim);
        bool is_near = set_aim(aim);
        aim->is_careful |= is_near;
        player_select(timeline->player);
        struct halt halt = advance(timeline, is_near && point_here(timeline));
        if (halt.kind == HALT_INTERRUPT)
            return "";
        if (halt.kind == HALT_END)
            return arena_print(aim->arena, "%s; %s", missed(aim),
                               describe_end(aim->arena, timeline));
        if (is_near && (halt.kind == HALT_EVENT || halt.kind == HALT_TIMER))
            keep_on_the_way(timeline);
    }
}

/* Goes to the moment from a checkpoint, with its points instead of the user's. */
static const char *go(struct aim *aim) {
    struct timeline *timeline = aim->timeline;
    take_points_out(timeline);
    struct points *users = points_put_aside(&timeline->points);
    find_module(aim);
    bool good = go_to_start(aim);
    if (good)
        forget_later_module(aim);
    const char *wrong = good ? approach(aim) : "the way to it is not found";
    player_set_alarm(timeline->player, 0, 0);
    end_motion(timeline);
    points_put_back(&timeline->points, users);
    return wrong;
}

const char *go_to_moment(struct timeline *timeline, struct arena *arena, const char *text) {
    struct aim aim = {
        .timeline = timeline, .arena = arena, .before_it = UINT64_MAX, .behind_it = UINT64_MAX};
    struct stand origin;
    const char *wrong = read_recorded_moment(arena, text, &aim.name);
    if (wrong)
        return wrong;
    const char *process = player_name(timeline->player, arena);
    bool is_number = aim.name.thread > 1 || (aim.name.thread && strcmp(process, "1") != 0);
    if (!is_number && strcmp(process_of_thread(arena, aim.name.thread_name), process) != 0)
        return arena_print(arena, "thread %s is of another process; name that with --process",
                           aim.name.thread_name);
    aim.thread = is_number ? NULL : aim.name.thread_name;
    aim.number = aim.name.thread;
    aim.ticks = aim.name.ticks;
    begin_motion(timeline);
    bool kept = copy_here(timeline, &origin);
    timeline->pinned = origin.place.base;
    wrong = go(&aim);
    timeline->pinned = NULL;
    if (wrong && kept)
        go_to_stand(timeline, &origin);
    drop_stand(&origin);
    timeline->moment_thread = wrong ? 0 : aim.recorded;
    return wrong;
}

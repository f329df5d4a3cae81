/* play_tick.c: a replayed thread goes to the tick of an event, or some instructions further; see
 * play.h and tracee/tick_stop.h. */
#include "replay/play.h"

#include "x86/call_stop.h"
#include "x86/kernel.h"

/* The thread of the tick is in a program that is armed. */
static void place_armed(struct player *player, struct tick_event *tick) {
    struct process_ticks *ticks = &player->thread->process->ticks;
    if (!ticks_has_code(ticks, player->process))
        return;
    if (player->armed_code != ticks->code || player->armed_of.address != tick->place.address ||
        player->armed_of.count != tick->place.count) {
        player->armed_code = ticks->code;
        player->armed_of = player->armed = tick->place;
        find_armed_place(ticks->code, &player->armed);
    }
    tick->place = player->armed;
}

/* Whether the next event is a tick. If so, sets TICK. */
static bool peek_tick(struct player *player, struct tick_event *tick) {
    struct event copy = player->event;
    if (player->ended || !player->has_event || player->event.kind != QUIPU_EVENT_TICK)
        return false;
    if (read_tick_event(&copy, tick)) {
        if (player->hooks->is_armed)
            place_armed(player, tick);
        return true;
    }
    end_by_corruption(player);
    return false;
}

static void finish_tick(struct player *player, const struct tick_event *tick) {
    struct user_regs_struct registers;
    if (get_general_registers(player->process, &registers) &&
        is_same_hash(player, hash_registers(&registers, false), tick->hash))
        finish_event(player);
    else
        end_by_difference(player, "comes to a tick with other registers");
}

static bool has_alarm(const struct player *player) {
    return player->alarm_thread && player->alarm_thread == player->thread->recorded;
}

/* Returns DISTANCE, or that from COUNT to the alarm, if it is less. */
static uint64_t shorten(const struct player *player, uint64_t count, uint64_t distance) {
    bool is_ahead = has_alarm(player) && player->alarm_count > count;
    return is_ahead && player->alarm_count - count < distance ? player->alarm_count - count
                                                              : distance;
}

/* Where the program has no additions, or the alarm's count has passed, whoever set it sees that at
 * the next pause. */
static void approach_alarm(struct player *player, bool step) {
    struct process_ticks *ticks = &player->thread->process->ticks;
    uint64_t count;
    if (has_alarm(player) && !step && ticks_arm(ticks, player->process) &&
        tick_count(ticks->code, player->process, &count) && player->alarm_count > count)
        tick_stop_begin(ticks->code, &player->thread->tick, player->process,
                        player->alarm_count - count);
}

bool is_at_alarm(struct player *player) {
    uint64_t count;
    return has_alarm(player) &&
           tick_count(player->thread->process->ticks.code, player->process, &count) &&
           count >= player->alarm_count;
}

bool player_has_alarms(struct player *player, pid_t process) {
    return process && ticks_has_code(&player->thread->process->ticks, process);
}

void player_set_alarm(struct player *player, pid_t thread, uint64_t count) {
    player->alarm_thread = thread;
    player->alarm_count = count;
}

uint64_t player_original_address(const struct player *player, uint64_t address) {
    const struct tick_code *code = player->thread->process->ticks.code;
    return code ? tick_original_address(code, address) : address;
}

void approach_tick(struct player *player, bool step) {
    struct process_ticks *ticks = &player->thread->process->ticks;
    struct tick_event tick;
    uint64_t count;
    if (!peek_tick(player, &tick)) {
        approach_alarm(player, step);
        return;
    }
    if (!ticks_arm(ticks, player->process))
        end_play(player, PLAYED_WRONG,
                 arena_print(player->arena, "'%s' is corrupt: a tick of a program without ticks",
                             player->recording.path));
    else if (!step && (!tick_count(ticks->code, player->process, &count) ||
                       tick.place.count - count > (uint64_t)INT64_MAX ||
                       !tick_stop_begin(ticks->code, &player->thread->tick, player->process,
                                        shorten(player, count, tick.place.count - count))))
        end_by_difference(player, "has passed a tick of the recording");
}

void leave_tick(struct player *player) {
    struct play_thread *thread = player->thread;
    if (thread->tick.block)
        tick_stop_end(thread->process->ticks.code, &thread->tick, thread->number);
}

static bool peek_steps(struct player *player, struct steps_event *steps) {
    struct event copy = player->event;
    if (player->ended || !player->has_event || player->event.kind != QUIPU_EVENT_STEPS)
        return false;
    if (read_steps_event(&copy, steps))
        return true;
    end_by_corruption(player);
    return false;
}

/* Whether the thread has the count of PLACE. In an armed program it may be some instructions in
 * front of that. */
static bool is_counted(const struct tick_code *code, pid_t thread, const struct tick_place *place) {
    uint64_t count;
    return tick_count(code, thread, &count) && count == place->count;
}

bool needs_step(struct player *player) {
    const struct process_ticks *ticks = &player->thread->process->ticks;
    struct steps_event steps;
    struct tick_event tick;
    if (peek_steps(player, &steps) || is_at_other_pass(player))
        return true;
    if (!peek_tick(player, &tick) || !ticks->armed || !ticks->code)
        return false;
    return tick_is_before(ticks->code, player->process, &tick.place) ||
           (player->hooks->is_armed && is_counted(ticks->code, player->process, &tick.place));
}

bool play_step(struct player *player) {
    struct user_regs_struct registers;
    struct steps_event steps;
    if (!peek_steps(player, &steps))
        return false;
    player->steps +=
        !player->hooks->is_armed || is_recorded_step(player, next_instruction(player->process));
    if (player->steps < steps.count || player->thread->behind_site)
        return player->ended;
    player->event_address = player->last;
    if (get_general_registers(player->process, &registers) && registers.rip == steps.address &&
        is_same_hash(player, hash_registers(&registers, false), steps.hash))
        finish_event(player);
    else
        end_by_difference(player, "has other registers behind a step of the recording");
    return true;
}

bool play_tick_stop(struct player *player) {
    struct play_thread *thread = player->thread;
    struct process_ticks *ticks = &thread->process->ticks;
    struct tick_place place;
    if (!ticks->armed || !ticks_has_code(ticks, thread->number) ||
        !tick_stop_reached(ticks->code, &thread->tick, thread->number, &place))
        return false;
    player->last = place.last;
    return true;
}

/* Whether an armed thread is at the place itself that the recording has: only some loops have other
 * forms. */
static bool is_at_recorded(const struct player *player) {
    return player->hooks->is_armed &&
           tick_is_at(player->thread->process->ticks.code, player->process, &player->armed_of);
}

bool play_tick(struct player *player) {
    struct process_ticks *ticks = &player->thread->process->ticks;
    struct tick_event tick;
    if (!peek_tick(player, &tick) || !ticks->code ||
        (!tick_is_at(ticks->code, player->process, &tick.place) && !is_at_recorded(player)))
        return false;
    leave_tick(player);
    tick_settle(ticks->code, player->process);
    player->event_address = player->last;
    finish_tick(player, &tick);
    return true;
}

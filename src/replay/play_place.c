/* play_place.c: a replayed thread goes to a place in code without ticks; see play.h and
 * tracee/state_stop.h. */
#include "replay/play.h"

#include "x86/kernel.h"

/* Whether the next event is a place, which then is the player's. */
static bool peek_place(struct player *player) {
    if (player->ended || !player->has_event || player->event.kind != QUIPU_EVENT_PLACE)
        return false;
    struct event copy = player->event;
    if (player->has_state_place)
        return true;
    player->has_state_place = read_place_event(&player->event_arena, &copy, &player->state_place);
    if (!player->has_state_place)
        end_by_corruption(player);
    return player->has_state_place;
}

bool play_place(struct player *player) {
    if (!peek_place(player) ||
        next_instruction(player->process) != player->state_place.registers.rip ||
        !is_at_state_place(player->process, &player->state_place))
        return false;
    player->event_address = player->state_place.last;
    finish_event(player);
    return true;
}

bool is_at_other_pass(struct player *player) {
    if (!peek_place(player))
        return false;
    const struct state_place *place = &player->state_place;
    uint64_t size = place->size ? place->size : 1;
    return next_instruction(player->process) - place->registers.rip < size;
}

bool player_place(struct player *player, uint64_t *address, uint64_t *size) {
    if (player->ended || !peek_event(player) || !peek_place(player))
        return false;
    *address = player->state_place.registers.rip;
    *size = player->state_place.size ? player->state_place.size : 1;
    return true;
}

void approach_place(struct player *player, bool step) {
    if (!step && peek_place(player) && player_settle(player))
        state_stop_begin(&player->state_stop, player->process, player->shared,
                         &player->state_place);
}

enum state_stopped leave_place(struct player *player, int status) {
    return state_stop_end(&player->state_stop, player->process, status);
}

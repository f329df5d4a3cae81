/* play_find.c: the threads that play, by the numbers and names that they had; see player.h. */
#include "replay/play.h"

#include <string.h>

const char *player_name(const struct player *player, struct arena *arena) {
    const struct play_process *process = own_process(player);
    size_t i = 0;
    while (i + 1 < player->threads.count && player->threads.data[i]->process != process)
        i++;
    return process_of_thread(arena, player->names.data[i].name);
}

/* Returns the index of the thread that had the number RECORDED; the number of threads if there is
 * none. */
static size_t find_thread(const struct player *player, pid_t recorded) {
    size_t i = 0;
    while (i < player->threads.count &&
           (!player->threads.data[i]->process || player->threads.data[i]->recorded != recorded))
        i++;
    return i;
}

const char *player_thread_name(const struct player *player, pid_t recorded) {
    size_t index = find_thread(player, recorded);
    return index < player->threads.count ? player->names.data[index].name : "";
}

pid_t player_maker(const struct player *player, pid_t recorded) {
    size_t index = find_thread(player, recorded);
    if (index == player->threads.count)
        return 0;
    uint32_t number = names_maker(&player->names, (uint32_t)index + 1);
    const struct play_thread *thread = player->threads.data[index];
    const struct play_thread *maker = number ? player->threads.data[number - 1] : NULL;
    return maker && maker->process == thread->process ? maker->number : 0;
}

pid_t player_find_name(const struct player *player, const char *name, bool *has_ended) {
    for (size_t i = 0; i < player->threads.count; i++) {
        const struct play_thread *thread = player->threads.data[i];
        if (strcmp(player->names.data[i].name, name) != 0)
            continue;
        *has_ended = !thread->process;
        return thread->recorded;
    }
    return 0;
}

uint64_t player_calls(const struct player *player, pid_t recorded) {
    size_t index = find_thread(player, recorded);
    return index < player->threads.count ? player->threads.data[index]->calls : 0;
}

bool player_next_thread(const struct player *player, size_t *at, pid_t *recorded, pid_t *number) {
    const struct play_process *process = own_process(player);
    while (*at < player->threads.count) {
        const struct play_thread *thread = player->threads.data[(*at)++];
        if (thread->process != process)
            continue;
        *recorded = thread->recorded;
        *number = thread->number;
        return true;
    }
    return false;
}

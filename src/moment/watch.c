/* watch.c: debug registers that see writes to what an expression reads; see watch.h.
 *
 * Debug registers hold the present addresses of the objects. An object behind a pointer or an index
 * moves only when the pointer or the index is written. This write is seen, too, and the registers
 * are set anew. Writes of the kernel cause no stop, so the same is done behind each system call.
 *
 * Each write stops the program, which costs as much as thousands of its instructions. So watching
 * ends if it costs too much of the time, unless the user wants it. */
#include "moment/watch.h"

#include "util/clock.h"

#include <string.h>

/* In seconds, and a share of the time since the begin of the search. The cost of one stop is not
 * known. It is taken to be the time since the previous write, but not more than the first of these.
 */
static const double most_for_one = 30e-6, least_cost = 0.3, share = 0.15;

static bool is_held(const struct watch *watch, uint64_t address, uint32_t size) {
    for (size_t i = 0; i < watch->count; i++)
        if (watch->addresses[i] == address && watch->sizes[i] >= size)
            return true;
    return false;
}

/* Adds the SIZE bytes at ADDRESS, in pieces that fit in debug registers. Returns whether there is
 * room. */
static bool add_pieces(struct watch *watch, uint64_t address, uint64_t size) {
    while (size) {
        uint32_t piece = 8;
        while (piece > size || address % piece)
            piece /= 2;
        if (!is_held(watch, address, piece)) {
            if (watch->count == WATCHES_MAX)
                return false;
            watch->addresses[watch->count] = address;
            watch->sizes[watch->count++] = piece;
        }
        address += piece;
        size -= piece;
    }
    return true;
}

/* Whether there is memory at ADDRESS: a pointer may not be set yet, or no longer be valid. Memory
 * that is mapped later is found behind the system call that maps it. */
static bool is_mapped(pid_t process, uint64_t address, uint64_t size) {
    char byte = 0;
    return size && read_memory(process, address, &byte, 1) &&
           read_memory(process, address + size - 1, &byte, 1);
}

bool find_watch(const struct search *search, pid_t process, struct watch *watch) {
    const struct expression *expression = search->expression;
    struct process_memory memory = process_memory(process, search->run.bias);
    *watch = (struct watch){0};
    for (size_t i = 0; i < expression->objects.count; i++) {
        const struct node *object = expression->objects.data[i];
        uint64_t address,
            size = object->bits ? (object->bit + object->bits + 7) / 8 : object->type.size;
        if (object_address(object, &memory.memory, &address) && is_mapped(process, address, size) &&
            !add_pieces(watch, address, size))
            return false;
    }
    return search->run.has_registers;
}

bool watch_objects(const struct search *search, pid_t process, struct watch *watch) {
    if (find_watch(search, process, watch) &&
        watch_memory(process, watch->addresses, watch->sizes, watch->count))
        return true;
    *watch = (struct watch){0};
    watch_memory(process, NULL, NULL, 0);
    return false;
}

/* Sets the registers to the present addresses of the objects. */
static bool set_watch(struct search *search) {
    struct watch watch;
    if (!find_watch(search, search->run.first.process, &watch))
        return false;
    if (memcmp(&watch, &search->watch, sizeof watch) == 0)
        return true;
    search->watch = watch;
    return watch_memory(search->run.first.process, watch.addresses, watch.sizes, watch.count);
}

static void end_watching(struct search *search) {
    search->watching = false;
    watch_memory(search->run.first.process, NULL, NULL, 0);
}

void begin_watching(struct search *search) {
    search->watching = set_watch(search);
    if (!search->watching)
        end_watching(search);
}

static bool costs_too_much(struct search *search) {
    double now = clock_seconds();
    double since = now - search->written;
    search->written = now;
    search->write_cost += since < most_for_one ? since : most_for_one;
    return search->write_cost > least_cost + share * (now - search->begun);
}

void keep_watching(struct search *search, enum stop stop) {
    if (!search->watching || stop == STOP_COUNTDOWN || stop == STOP_THREAD)
        return;
    bool wrote = stop == STOP_WRITE;
    search->writes += wrote;
    if (!set_watch(search) || (wrote && !search->exact && costs_too_much(search)))
        end_watching(search);
}

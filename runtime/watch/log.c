/* log.c: writes hits into the ring of the watch file, and follows the answers to them. While a
 * writer waits for an answer, it holds no lock. */
#include "runtime/core/syscall.h"
#include "runtime/watch/watch.h"

#include <linux/futex.h>
#include <signal.h>
#include <time.h>

enum {
    FEW = 96,                /* bytes of a region that most hits show */
    LOOK_UP = 100 * 1000000, /* nanoseconds between tests whether the consumer still runs */
};

/* ---- Answers ---- */

/* Whether the consumer has already passed the hit: then there will be no answer. */
static bool is_passed(struct quipu_watch_file *file, const struct quipu_hit *hit) {
    uint64_t at = (uint64_t)((const uint8_t *)hit - quipu_watch_ring_at(file, 0));
    uint64_t tail = __atomic_load_n(&file->tail, __ATOMIC_ACQUIRE) & (file->ring_size - 1);
    uint64_t used = (__atomic_load_n(&file->head, __ATOMIC_ACQUIRE) & (file->ring_size - 1)) - tail;
    return ((at - tail) & (file->ring_size - 1)) >= (used & (file->ring_size - 1)) &&
           __atomic_load_n(&hit->record.size, __ATOMIC_ACQUIRE) == 0;
}

static uint32_t wait_for_answer(struct quipu_watch_file *file, struct quipu_hit *hit) {
    const struct timespec look_up = {0, LOOK_UP};
    uint32_t answer;
    while (!(answer = __atomic_load_n(&hit->answer, __ATOMIC_ACQUIRE))) {
        if (!quipu_watch_is_read(file) || is_passed(file, hit))
            return QUIPU_ANSWER_GO_ON;
        SYSTEM_CALL(futex, &hit->answer, FUTEX_WAIT, 0, &look_up, NULL, 0);
    }
    __atomic_fetch_or(&hit->answer, QUIPU_ANSWER_TAKEN, __ATOMIC_ACQ_REL);
    SYSTEM_CALL(futex, &hit->answer, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
    return answer;
}

/* Ends the process, whatever its handling of SIGABRT is. */
static void end_process(void) {
    struct {
        uint64_t handler, flags, restorer, mask;
    } plain = {0, 0, 0, 0};
    uint64_t aborting = (uint64_t)1 << (SIGABRT - 1);
    SYSTEM_CALL(rt_sigaction, SIGABRT, &plain, NULL, sizeof plain.mask, 0, 0);
    SYSTEM_CALL(rt_sigprocmask, SIG_UNBLOCK, &aborting, NULL, sizeof aborting, 0, 0);
    raise_signal(SIGABRT);
}

static void follow(uint32_t answer, uint32_t cause) {
    if (answer & QUIPU_ANSWER_LOOK)
        quipu_watch_look_at_requests();
    if (answer & QUIPU_ANSWER_TRAP)
        quipu_watch_trap(cause);
    if (answer & QUIPU_ANSWER_END)
        end_process();
}

/* ---- Hits ---- */

/* Names the thread that waits for an answer. A child of vfork has the memory of its parent, and so
 * the numbers that are known there. */
static void name_thread(struct quipu_record *record) {
    record->pid = (uint32_t)SYSTEM_CALL(getpid, 0, 0, 0, 0, 0, 0);
    record->thread = (uint32_t)SYSTEM_CALL(gettid, 0, 0, 0, 0, 0, 0);
}

static void describe(struct quipu_hit *hit, const struct watch_region *region,
                     const struct watch_write *write, const struct watch_window *window) {
    hit->request = (uint32_t)region->argument;
    hit->cause = (uint16_t)write->cause;
    hit->flags = quipu_watch_is_exact(region, write) ? 0 : QUIPU_HIT_BEHIND;
    if (quipu_watch_is_doubted(write))
        hit->flags |= (uint8_t)(QUIPU_HIT_UNDECIDED | (write->suspects->more ? QUIPU_HIT_MORE : 0));
    if (!write->place)
        hit->flags |= QUIPU_HIT_LATE;
    if (region->flags & QUIPU_REQUEST_WAITS)
        name_thread(&hit->record);
    hit->candidates = write->suspects ? (uint8_t)write->suspects->count : 0;
    hit->pc = write->pc;
    hit->address = write->address;
    hit->length = write->length;
    hit->region = region->address;
    hit->offset = window->from - region->address;
    hit->told = window->count;
    hit->ticks = 0;
    hit->moment_thread = 0;
    if (IS_LINKED(quipu_moment_at) && write->place)
        quipu_moment_at(write->place, &hit->ticks, &hit->moment_thread);
}

/* Returns the size of a record that shows ROOM bytes twice. */
static uint32_t size_of_hit(const struct watch_region *region, uint64_t room) {
    uint64_t block = region->flags & WATCH_BLOCK ? sizeof(struct quipu_block) : 0;
    return (uint32_t)(sizeof(struct quipu_hit) + 2 * room + block);
}

/* Fills in the bytes from OLD on. Returns whether the write is to be reported. */
static bool fill(uint32_t index, const struct watch_region *region, const struct watch_write *write,
                 struct watch_window *window, uint8_t *old) {
    uint64_t room = round_up_to_8(window->count);
    return quipu_watch_fill(index, region, write, window, old, old + room) &&
           (!(region->flags & WATCH_BLOCK) ||
            quipu_watch_describe_block(index, region, (struct quipu_block *)(old + 2 * room)));
}

/* Stores the other calls that may have made the change at PLACE. Returns their size in bytes. */
static uint32_t name_candidates(const struct watch_write *write, uint8_t *place) {
    struct quipu_candidate *candidates = (struct quipu_candidate *)place;
    uint32_t count = write->suspects ? write->suspects->count : 0;
    for (uint32_t i = 0; i < count; i++)
        candidates[i] = (struct quipu_candidate){
            quipu_watch_place_of_call(write->suspects->calls[i].stub,
                                      write->suspects->calls[i].descriptor),
            write->suspects->calls[i].tid, 0};
    return count * (uint32_t)sizeof *candidates;
}

/* Gets the bytes before it reserves the record. A write by an ALLOWED writer is reported only if it
 * may be another's. */
static struct quipu_hit *log_few(struct quipu_watch_file *file, uint32_t index,
                                 const struct watch_region *region, const struct watch_write *write,
                                 struct watch_window *window, bool allowed) {
    uint64_t bytes[(2 * FEW + sizeof(struct quipu_block) +
                    QUIPU_CANDIDATES_MAX * sizeof(struct quipu_candidate)) /
                   sizeof(uint64_t)];
    uint32_t size = size_of_hit(region, round_up_to_8(window->count));
    if (!fill(index, region, write, window, (uint8_t *)bytes) ||
        (allowed && !quipu_watch_is_doubted(write)))
        return NULL;
    size += name_candidates(write, (uint8_t *)bytes + size - sizeof(struct quipu_hit));
    struct quipu_hit *hit = (struct quipu_hit *)quipu_watch_reserve(file, size, NULL);
    if (!hit)
        return NULL;
    describe(hit, region, write, window);
    copy_bytes(hit + 1, bytes, size - sizeof *hit);
    quipu_watch_publish(&hit->record, size, QUIPU_RECORD_HIT);
    return hit;
}

/* Stores the bytes directly into the record. */
static struct quipu_hit *log_many(struct quipu_watch_file *file, uint32_t index,
                                  const struct watch_region *region,
                                  const struct watch_write *write, struct watch_window *window,
                                  bool allowed) {
    uint64_t mask;
    uint32_t named = size_of_hit(region, round_up_to_8(window->count));
    uint32_t size =
        named + (write->suspects ? QUIPU_CANDIDATES_MAX * sizeof(struct quipu_candidate) : 0);
    struct quipu_hit *hit = (struct quipu_hit *)quipu_watch_reserve(file, size, &mask);
    if (!hit)
        return NULL;
    bool tell = fill(index, region, write, window, (uint8_t *)(hit + 1)) &&
                !(allowed && !quipu_watch_is_doubted(write));
    name_candidates(write, (uint8_t *)hit + named);
    describe(hit, region, write, window);
    quipu_watch_publish(&hit->record, size, tell ? QUIPU_RECORD_HIT : QUIPU_RECORD_PAD);
    restore_signals(mask);
    return tell ? hit : NULL;
}

/* Updates the region's copy as a report of the write would have done. */
static void pass_over(uint32_t index, const struct watch_region *region,
                      const struct watch_write *write, const struct watch_window *window) {
    uint8_t bytes[2 * FEW];
    uint64_t from = greater(write->address, window->from);
    uint64_t end = lesser(write->address + write->length, window->from + window->count);
    do {
        struct watch_window part = {from, lesser(end - from, FEW)};
        from += part.count;
        quipu_watch_fill(index, region, write, &part, bytes, bytes + FEW);
    } while (write->pair && from < end); /* without a pair, the first call updates the whole copy */
}

void quipu_watch_log(uint32_t index, const struct watch_region *region,
                     const struct watch_write *write, struct watch_window window) {
    /* the region's file, or a later one: then the region is gone */
    struct quipu_watch_file *file = __atomic_load_n(&WATCH->file, __ATOMIC_ACQUIRE);
    if (!file)
        return;
    bool allowed = region->flags & QUIPU_REQUEST_GUARDED && quipu_watch_is_allowed(file, write->pc);
    if (allowed && !write->suspects) {
        pass_over(index, region, write, &window);
        return;
    }
    quipu_watch_announce();
    /* The consumer takes one record after the other. So a handler's hit must not wait for an answer
     * while this one is not complete, or has not taken its own answer. */
    bool blocks = WATCH->waits;
    uint64_t mask = blocks ? block_signals() : 0;
    uint32_t answer = QUIPU_ANSWER_GO_ON;
    struct quipu_hit *hit = window.count <= FEW
                                ? log_few(file, index, region, write, &window, allowed)
                                : log_many(file, index, region, write, &window, allowed);
    if (hit && region->flags & QUIPU_REQUEST_WAITS) {
        quipu_watch_let_go(write->hold);
        answer = wait_for_answer(file, hit);
    }
    if (blocks)
        restore_signals(mask);
    follow(answer, write->cause);
}

/* lane.c: calls that threads have under way, and who else may have changed what is found
 * changed.
 *
 * What code without checks writes is found by comparing, behind calls of it.  Where there are other
 * threads, what is found may be theirs.  So each has a lane: the calls of such code that it is in.
 * What a comparison finds is its own call's alone where, since those bytes were looked at last, no
 * other call was under way that may write there:
 *
 *   - A call that has come back was followed by a comparison, which found what it had changed, or
 *     nothing; it leaves its lane only then.  Where it was not compared behind, or left what it
 * found to a call that is known to write there, that is counted: `skipped` is then another number
 * than `compared`, up to the end of the next whole comparison.
 *   - A call that is under way stands in a lane.  What may write is told by its name and arguments.
 *   - A jump that ends a function leads to what is never come back from there.  It is counted, too,
 *     and the last one of each thread is known.
 *   - A thread that has no lane may be in anything: the kernel says how many threads there are.
 *
 * Lanes are looked at while the comparing thread holds the order of these bytes (order.c),
 * and once more where a call began or ended meanwhile.
 *
 * They are kept once there are other threads, and where something is guarded from the begin on, so
 * that a call which calls back is known, too.
 *
 * Not perfect: a call that had begun before lanes were kept, and calls back, is not known; what
 * calls by hand-written code write is not, either. */
#include "runtime/watch/lane.h"
#include "runtime/core/syscall.h"
#include "runtime/watch/watch.h"

#include "format/watch_callees.h"

#include <fcntl.h>
#include <sys/stat.h>

enum {
    NEAR = 1 << 20, /* bytes: on the same stack */
    RARELY = 1024,  /* times, where there are too many threads */
    OWN_LINKS = 2,  /* of a folder */
};

__thread uint64_t quipu_watch_own __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* The calling thread's, as far as this module knows; NULL: not yet. */
static struct watch_lane *known_lane(void) {
    uint64_t number = quipu_watch_own & OWN_LANE;
    return number ? WATCH_LANE + number - 1 : NULL;
}

static void know_lane(const struct watch_lane *lane) {
    uint64_t number = lane ? (uint64_t)(lane + 1 - WATCH_LANE) : 0;
    quipu_watch_own = (quipu_watch_own & ~(uint64_t)OWN_LANE) | number;
}

uint32_t quipu_watch_thread(uint32_t pid) {
    if (quipu_watch_own >> OWN_PROCESS_AT != pid) {
        uint64_t tid = (uint32_t)SYSTEM_CALL(gettid, 0, 0, 0, 0, 0, 0);
        quipu_watch_own =
            (quipu_watch_own & OWN_LANE) | tid << OWN_THREAD_AT | (uint64_t)pid << OWN_PROCESS_AT;
    }
    return quipu_watch_own >> OWN_THREAD_AT & OWN_NUMBER;
}

static bool is_gone(const struct watch_lane *lane) {
    return lane->tid && quipu_watch_thread_is_gone(lane->tid);
}

/* ---- A thread's own ---- */

/* Behind the last that ever was taken. */
static struct watch_lane *lanes_end(void) {
    return WATCH_LANE + __atomic_load_n(&WATCH_WIPED->lanes, __ATOMIC_ACQUIRE);
}

static void note_end(uint32_t count) {
    uint32_t *lanes = &WATCH_WIPED->lanes, known = __atomic_load_n(lanes, __ATOMIC_RELAXED);
    while (known < count && !__atomic_compare_exchange_n(lanes, &known, count, false,
                                                         __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        continue;
}

static void let_go_of(struct watch_lane *lane, uint64_t thread) {
    if (lane->depth)
        quipu_watch_note_skipped();
    lane->depth = 0;
    lane->tid = 0;
    __atomic_compare_exchange_n(&lane->thread, &thread, 0, false, __ATOMIC_RELEASE,
                                __ATOMIC_RELAXED);
}

static void drop_gone(void) {
    for (struct watch_lane *lane = WATCH_LANE; lane < lanes_end(); lane++) {
        uint64_t thread = __atomic_load_n(&lane->thread, __ATOMIC_ACQUIRE);
        if (thread && is_gone(lane))
            let_go_of(lane, thread);
    }
}

/* One that has that thread pointer: another module has taken it, or a thread that has ended. */
static struct watch_lane *find_lane(uint64_t thread) {
    for (struct watch_lane *lane = WATCH_LANE; lane < lanes_end(); lane++)
        if (__atomic_load_n(&lane->thread, __ATOMIC_RELAXED) == thread)
            return lane;
    return NULL;
}

static struct watch_lane *claim_lane(uint64_t thread) {
    for (struct watch_lane *lane = WATCH_LANE; lane < WATCH_LANE + WATCH_LANES; lane++) {
        uint64_t nobody = 0;
        if (!__atomic_load_n(&lane->thread, __ATOMIC_RELAXED) &&
            __atomic_compare_exchange_n(&lane->thread, &nobody, thread, false, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED)) {
            note_end((uint32_t)(lane + 1 - WATCH_LANE));
            return lane;
        }
    }
    return NULL;
}

static struct watch_lane *take_lane(void) {
    static uint32_t refused;
    uint64_t thread = thread_pointer();
    uint32_t tid = quipu_watch_thread(quipu_watch_pid());
    struct watch_lane *lane = find_lane(thread);
    if (!lane)
        lane = claim_lane(thread);
    if (!lane && __atomic_fetch_add(&refused, 1, __ATOMIC_RELAXED) % RARELY == 0)
        drop_gone();
    if (lane && lane->tid != tid) {
        if (lane->depth)
            quipu_watch_note_skipped();
        lane->depth = 0;
        lane->left_stub = 0;
        __atomic_store_n(&lane->tid, tid, __ATOMIC_RELEASE);
    }
    know_lane(lane);
    return lane;
}

/* NULL: there are too many.  In a forked child it is free. */
static struct watch_lane *own_lane(void) {
    struct watch_lane *lane = known_lane();
    return lane && lane->thread == thread_pointer() ? lane : take_lane();
}

/* Whether the call at BELOW was left by one that has got to STACK. */
static bool is_left(uint64_t below, uint64_t stack) {
    return stack - below < NEAR;
}

static void note_event(struct watch_lane *lane) {
    __atomic_store_n(&lane->events, lane->events + 1, __ATOMIC_RELEASE);
}

/* Takes those away that the thread has left by longjmp, and the one at STACK. */
static void drop_left(struct watch_lane *lane, uint64_t stack) {
    while (lane->depth &&
           (lane->depth > LANE_CALLS || is_left(lane->calls[lane->depth - 1].stack, stack))) {
        if (lane->depth > LANE_CALLS && lane->calls[LANE_CALLS - 1].stack > stack)
            return; /* it may be one of those that are not known, or not */
        __atomic_store_n(&lane->depth, lane->depth - 1, __ATOMIC_RELEASE);
    }
}

void quipu_watch_go_under_way(const struct watch_under_way *call) {
    struct watch_lane *lane = own_lane();
    if (!lane)
        return;
    drop_left(lane, call->stack);
    uint32_t depth = lane->depth;
    if (depth < LANE_CALLS) /* a handler may come now, and take the same place */
        __atomic_store_n(&lane->calls[depth].stack, call->stack, __ATOMIC_RELAXED);
    __atomic_store_n(&lane->depth, depth + 1, __ATOMIC_RELEASE);
    if (depth < LANE_CALLS)
        lane->calls[depth] = *call;
    note_event(lane);
}

uint32_t quipu_watch_row_under_way(uint64_t stack) {
    const struct watch_lane *lane = own_lane();
    for (uint32_t i = 0; lane && i < lesser(lane->depth, LANE_CALLS); i++)
        if (lane->calls[i].stack == stack)
            return QUIPU_CALL_NUMBER(lane->calls[i].told) & ~QUIPU_CALLEE_LOOKS;
    return 0;
}

void quipu_watch_come_back(uint64_t stack) {
    struct watch_lane *lane = own_lane();
    if (!lane)
        return;
    if (lane->depth > LANE_CALLS)
        lane->depth--;
    drop_left(lane, stack);
    note_event(lane);
}

/* ---- Others ---- */

uint64_t quipu_watch_events(void) {
    uint64_t sum = 0;
    for (const struct watch_lane *lane = WATCH_LANE; lane < lanes_end(); lane++)
        if (__atomic_load_n(&lane->thread, __ATOMIC_ACQUIRE) != thread_pointer())
            sum += __atomic_load_n(&lane->events, __ATOMIC_ACQUIRE);
    return sum;
}

bool quipu_watch_writes_elsewhere(uint64_t address, uint64_t end, uint64_t events) {
    enum {
        FEW = 2 /* of those that have ended all can still be seen */
    };
    uint64_t ended = quipu_watch_events() - events;
    for (const struct watch_lane *lane = WATCH_LANE; lane < lanes_end(); lane++) {
        uint32_t depth = __atomic_load_n(&lane->depth, __ATOMIC_ACQUIRE) + (ended != 0);
        if (__atomic_load_n(&lane->thread, __ATOMIC_ACQUIRE) == thread_pointer())
            continue;
        for (uint32_t i = 0; i < lesser(depth, LANE_CALLS); i++)
            if (lane->calls[i].low < end && address < lane->calls[i].high)
                return true;
    }
    return ended > FEW;
}

/* How many the kernel knows; where it does not tell, more than there can be. */
static uint64_t count_threads(void) {
    struct stat64 status = {0};
    if (SYSTEM_CALL(newfstatat, AT_FDCWD, "/proc/self/task", &status, 0, 0, 0) < 0 ||
        status.st_nlink <= OWN_LINKS)
        return UINT64_MAX;
    return status.st_nlink - OWN_LINKS;
}

bool quipu_watch_is_only_thread(void) {
    return quipu_watch_is_alone() || count_threads() == 1;
}

/* Whether each thread that the kernel knows has a lane. */
static bool are_all_known(void) {
    uint64_t count = 0;
    for (struct watch_lane *lane = WATCH_LANE; lane < lanes_end(); lane++) {
        uint64_t thread = __atomic_load_n(&lane->thread, __ATOMIC_ACQUIRE);
        if (thread && is_gone(lane))
            let_go_of(lane, thread);
        else
            count += thread != 0;
    }
    return count_threads() <= count;
}

static void add(struct watch_suspects *suspects, const struct watch_under_way *call, uint32_t tid) {
    if (suspects->count == WATCH_SUSPECTS) {
        suspects->more = true;
        return;
    }
    suspects->calls[suspects->count].stub = call->stub;
    suspects->calls[suspects->count].told = call->told;
    suspects->calls[suspects->count++].tid = tid;
}

/* STRONG: another call is known to write there, so it is no memory of the C library's own. */
static bool may_write(const struct watch_under_way *call, const struct watch_region *region,
                      uint64_t low, uint64_t high, bool strong) {
    enum watch_reach reach = quipu_watch_reach(QUIPU_CALL_NUMBER(call->told));
    return reach == WATCH_REACHES_ALL || (call->low < high && low < call->high) ||
           (reach == WATCH_REACHES_LIBRARY && !strong && quipu_watch_may_be_library(region));
}

void quipu_watch_suspect(const struct watch_region *region, uint64_t low, uint64_t high,
                         uint64_t stack, bool is_strong, struct watch_suspects *suspects) {
    bool is_alone = quipu_watch_is_only_thread();
    *suspects = (struct watch_suspects){0};
    suspects->more = (!is_alone && ((WATCH->is_late && !is_strong) || region->flags & WATCH_FREED ||
                                    !are_all_known())) ||
                     quipu_watch_is_shared(region, low);
    for (struct watch_lane *lane = WATCH_LANE; lane < lanes_end(); lane++) {
        uint64_t thread = __atomic_load_n(&lane->thread, __ATOMIC_ACQUIRE);
        uint32_t depth = __atomic_load_n(&lane->depth, __ATOMIC_ACQUIRE);
        if (!thread)
            continue;
        suspects->more |= depth > LANE_CALLS;
        for (uint32_t i = 0; i < lesser(depth, LANE_CALLS); i++) {
            struct watch_under_way call = lane->calls[i];
            bool is_other = thread != thread_pointer() || call.stack > stack;
            if (is_other && may_write(&call, region, low, high, is_strong))
                add(suspects, &call, lane->tid);
        }
    }
}

static uint32_t count_skipped(void) {
    return __atomic_add_fetch(&WATCH_QUICK->skipped, 1, __ATOMIC_SEQ_CST);
}

void quipu_watch_note_skipped(void) {
    count_skipped();
}

/* ---- Jumps that end functions ---- */

void quipu_watch_leave(uint64_t stack, uint64_t stub, uint32_t told) {
    struct watch_lane *lane = own_lane();
    uint32_t number = count_skipped();
    if (!lane)
        return;
    __atomic_store_n(&lane->left_stub, 0, __ATOMIC_RELEASE);
    lane->left_told = told;
    lane->left_number = number;
    __atomic_store_n(&lane->left_stub, stub, __ATOMIC_RELEASE);
    struct watch_under_way way = {.stack = stack, .stub = stub, .told = told, .low = UINT64_MAX};
    if (WATCH_QUICK->tracks) /* until the thread calls something else */
        quipu_watch_go_under_way(&way);
}

static bool is_suspected(const struct watch_suspects *suspects, const struct watch_under_way *call,
                         uint32_t tid) {
    for (uint32_t i = 0; i < suspects->count; i++)
        if (suspects->calls[i].stub == call->stub && suspects->calls[i].tid == tid)
            return true;
    return false;
}

void quipu_watch_suspect_skipped(uint32_t number, struct watch_suspects *suspects) {
    uint32_t unnamed = __atomic_load_n(&WATCH_QUICK->skipped, __ATOMIC_ACQUIRE) - number;
    for (struct watch_lane *lane = WATCH_LANE; unnamed && lane < lanes_end(); lane++) {
        struct watch_under_way call = {.stub = __atomic_load_n(&lane->left_stub, __ATOMIC_ACQUIRE),
                                       .told = lane->left_told};
        bool is_since = (int32_t)(lane->left_number - number) > 0;
        if (!call.stub || !is_since ||
            __atomic_load_n(&lane->left_stub, __ATOMIC_ACQUIRE) != call.stub)
            continue;
        if (!is_suspected(suspects, &call, lane->tid))
            add(suspects, &call, lane->tid);
        unnamed--;
    }
    suspects->more |= unnamed != 0;
}

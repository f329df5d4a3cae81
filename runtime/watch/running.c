/* running.c: the running calls of each thread, and who else may have made a change.
 *
 * Writes of code without checks are found by comparison after calls of it. If there are other
 * threads, a change may be theirs. So each thread records its running calls of such code. A change
 * belongs to the comparing call alone if, since the bytes were last compared, no other call was
 * running that may write there:
 *
 *   - A call that has returned was followed by a comparison, which found its changes or nothing.
 *     Its record is removed only after that. If there was no comparison, or a change was left to
 *     a call that is known to write there, `skipped` counts it. Then it differs from `compared`
 *     until the next comparison of all regions ends.
 *   - A running call is recorded. Its name and arguments tell what it may write.
 *   - A function that ends with a jump to code without checks does not see that code return. Nor
 *     does one whose call an exception or longjmp leaves. Such jumps and calls are counted, too,
 *     and the last one of each thread is recorded.
 *   - A thread without records may be in any call. The kernel tells how many threads there are.
 *
 * The comparing thread reads the records while it holds the write locks of these bytes
 * (write_lock.c), and reads them again if a call began or ended meanwhile.
 *
 * Records are kept once there are other threads. If something is guarded they are kept from the
 * start, so that an outer call, which has called back into the program, is known, too.
 *
 * If `main` has no checks, it may have made any change between two calls of the program's code.
 *
 * Not perfect: a call that began before records were kept, and calls back, is not known. */
#include "runtime/watch/running.h"
#include "runtime/core/syscall.h"
#include "runtime/watch/watch.h"

#include "format/watch_callees.h"

#include <fcntl.h>
#include <sys/stat.h>

enum {
    NEAR = 1 << 20, /* bytes: within this distance addresses are on the same stack */
    RARELY = 1024,  /* after so many refusals, when there are too many threads */
    OWN_LINKS = 2,  /* links of a folder to itself */
};

__thread uint64_t quipu_watch_own __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Returns the calling thread's call records, as far as this module knows. NULL: not known yet. */
static struct watch_running *known_running(void) {
    uint64_t number = quipu_watch_own & OWN_RUNNING;
    return number ? WATCH_RUNNING + number - 1 : NULL;
}

static void know_running(const struct watch_running *running) {
    uint64_t number = running ? (uint64_t)(running + 1 - WATCH_RUNNING) : 0;
    quipu_watch_own = (quipu_watch_own & ~(uint64_t)OWN_RUNNING) | number;
}

uint32_t quipu_watch_thread(uint32_t pid) {
    if (quipu_watch_own >> OWN_PROCESS_AT != pid) {
        uint64_t tid = (uint32_t)SYSTEM_CALL(gettid, 0, 0, 0, 0, 0, 0);
        quipu_watch_own = (quipu_watch_own & OWN_RUNNING) | tid << OWN_THREAD_AT |
                          (uint64_t)pid << OWN_PROCESS_AT;
    }
    return quipu_watch_own >> OWN_THREAD_AT & OWN_NUMBER;
}

static bool is_gone(const struct watch_running *running) {
    return running->tid && quipu_watch_thread_is_gone(running->tid);
}

/* ---- The calling thread's records ---- */

/* Returns the end of all records that were ever taken. */
static struct watch_running *running_end(void) {
    return WATCH_RUNNING + __atomic_load_n(&WATCH_WIPED->running, __ATOMIC_ACQUIRE);
}

static void note_end(uint32_t count) {
    uint32_t *running = &WATCH_WIPED->running, known = __atomic_load_n(running, __ATOMIC_RELAXED);
    while (known < count && !__atomic_compare_exchange_n(running, &known, count, false,
                                                         __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        continue;
}

static void let_go_of(struct watch_running *running, uint64_t thread) {
    if (running->depth)
        quipu_watch_count_skipped();
    running->depth = 0;
    running->tid = 0;
    __atomic_compare_exchange_n(&running->thread, &thread, 0, false, __ATOMIC_RELEASE,
                                __ATOMIC_RELAXED);
}

static void drop_gone(void) {
    for (struct watch_running *running = WATCH_RUNNING; running < running_end(); running++) {
        uint64_t thread = __atomic_load_n(&running->thread, __ATOMIC_ACQUIRE);
        if (thread && is_gone(running))
            let_go_of(running, thread);
    }
}

/* Returns the records with that thread pointer: taken by another module, or by a thread that has
 * ended. */
static struct watch_running *find_running(uint64_t thread) {
    for (struct watch_running *running = WATCH_RUNNING; running < running_end(); running++)
        if (__atomic_load_n(&running->thread, __ATOMIC_RELAXED) == thread)
            return running;
    return NULL;
}

static struct watch_running *claim_running(uint64_t thread) {
    for (struct watch_running *running = WATCH_RUNNING; running < WATCH_RUNNING + WATCH_RUNNING_MAX;
         running++) {
        uint64_t nobody = 0;
        if (!__atomic_load_n(&running->thread, __ATOMIC_RELAXED) &&
            __atomic_compare_exchange_n(&running->thread, &nobody, thread, false, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED)) {
            note_end((uint32_t)(running + 1 - WATCH_RUNNING));
            return running;
        }
    }
    return NULL;
}

static struct watch_running *take_running(void) {
    static uint32_t refused;
    uint64_t thread = thread_pointer();
    uint32_t tid = quipu_watch_thread(quipu_watch_pid());
    struct watch_running *running = find_running(thread);
    if (!running)
        running = claim_running(thread);
    if (!running && __atomic_fetch_add(&refused, 1, __ATOMIC_RELAXED) % RARELY == 0)
        drop_gone();
    if (running && running->tid != tid) {
        if (running->depth)
            quipu_watch_count_skipped();
        running->depth = 0;
        running->left_stub = 0;
        __atomic_store_n(&running->tid, tid, __ATOMIC_RELEASE);
    }
    know_running(running);
    return running;
}

/* Returns NULL if there are too many threads. In a forked child all records are free. */
static struct watch_running *own_running(void) {
    struct watch_running *running = known_running();
    return running && running->thread == thread_pointer() ? running : take_running();
}

/* Whether the call at BELOW was left, since the thread is now at STACK. */
static bool is_left(uint64_t below, uint64_t stack) {
    return stack - below < NEAR;
}

static void note_event(struct watch_running *running) {
    __atomic_store_n(&running->events, running->events + 1, __ATOMIC_RELEASE);
}

/* Removes the records of calls that the thread has left by longjmp, and the one at STACK. */
static void drop_left(struct watch_running *running, uint64_t stack) {
    while (running->depth && (running->depth > RUNNING_CALLS ||
                              is_left(running->calls[running->depth - 1].stack, stack))) {
        if (running->depth > RUNNING_CALLS && running->calls[RUNNING_CALLS - 1].stack > stack)
            return; /* it may be one of the unrecorded calls, or not */
        __atomic_store_n(&running->depth, running->depth - 1, __ATOMIC_RELEASE);
    }
}

void quipu_watch_call_begins(const struct watch_running_call *call) {
    struct watch_running *running = own_running();
    if (!running)
        return;
    drop_left(running, call->stack);
    uint32_t depth = running->depth;
    if (depth < RUNNING_CALLS) /* a handler may interrupt here and take the same record */
        __atomic_store_n(&running->calls[depth].stack, call->stack, __ATOMIC_RELAXED);
    __atomic_store_n(&running->depth, depth + 1, __ATOMIC_RELEASE);
    if (depth < RUNNING_CALLS)
        running->calls[depth] = *call;
    note_event(running);
}

uint32_t quipu_watch_running_row(uint64_t stack) {
    const struct watch_running *running = own_running();
    for (uint32_t i = 0; running && i < lesser(running->depth, RUNNING_CALLS); i++)
        if (running->calls[i].stack == stack)
            return QUIPU_CALL_NUMBER(running->calls[i].descriptor) & ~QUIPU_CALLEE_LOOKS;
    return 0;
}

void quipu_watch_call_ends(uint64_t stack) {
    struct watch_running *running = own_running();
    if (!running)
        return;
    if (running->depth > RUNNING_CALLS)
        running->depth--;
    drop_left(running, stack);
    note_event(running);
}

/* ---- Other threads ---- */

uint64_t quipu_watch_events(void) {
    uint64_t sum = 0;
    for (const struct watch_running *running = WATCH_RUNNING; running < running_end(); running++)
        if (__atomic_load_n(&running->thread, __ATOMIC_ACQUIRE) != thread_pointer())
            sum += __atomic_load_n(&running->events, __ATOMIC_ACQUIRE);
    return sum;
}

bool quipu_watch_writes_elsewhere(uint64_t address, uint64_t end, uint64_t events) {
    enum {
        FEW = 2 /* up to so many ended calls still have their data in the records */
    };
    uint64_t ended = quipu_watch_events() - events;
    for (const struct watch_running *running = WATCH_RUNNING; running < running_end(); running++) {
        uint32_t depth = __atomic_load_n(&running->depth, __ATOMIC_ACQUIRE) + (ended != 0);
        if (__atomic_load_n(&running->thread, __ATOMIC_ACQUIRE) == thread_pointer())
            continue;
        for (uint32_t i = 0; i < lesser(depth, RUNNING_CALLS); i++)
            if (running->calls[i].low < end && address < running->calls[i].high)
                return true;
    }
    return ended > FEW;
}

/* Returns the kernel's number of threads. If that is unavailable, returns more than there can
 * be. */
static uint64_t count_kernel_threads(void) {
    struct stat64 status = {0};
    if (SYSTEM_CALL(newfstatat, AT_FDCWD, "/proc/self/task", &status, 0, 0, 0) < 0 ||
        status.st_nlink <= OWN_LINKS)
        return UINT64_MAX;
    return status.st_nlink - OWN_LINKS;
}

bool quipu_watch_is_only_thread(void) {
    return quipu_watch_is_alone() || count_kernel_threads() == 1;
}

/* Whether each thread that the kernel counts has call records. */
static bool are_all_known(void) {
    uint64_t count = 0;
    for (struct watch_running *running = WATCH_RUNNING; running < running_end(); running++) {
        uint64_t thread = __atomic_load_n(&running->thread, __ATOMIC_ACQUIRE);
        if (thread && is_gone(running))
            let_go_of(running, thread);
        else
            count += thread != 0;
    }
    return count_kernel_threads() <= count;
}

static void add(struct watch_suspects *suspects, const struct watch_running_call *call,
                uint32_t tid) {
    if (suspects->count == WATCH_SUSPECTS) {
        suspects->more = true;
        return;
    }
    suspects->calls[suspects->count].stub = call->stub;
    suspects->calls[suspects->count].descriptor = call->descriptor;
    suspects->calls[suspects->count++].tid = tid;
}

/* STRONG: another call is known to write there, so it is not the C library's own memory. */
static bool call_may_write(const struct watch_running_call *call, const struct watch_region *region,
                           uint64_t low, uint64_t high, bool strong) {
    enum watch_reach reach = quipu_watch_reach(QUIPU_CALL_NUMBER(call->descriptor));
    return reach == WATCH_REACHES_ALL || (call->low < high && low < call->high) ||
           (reach == WATCH_REACHES_LIBRARY && !strong && quipu_watch_may_be_library(region));
}

bool quipu_watch_find_outer(const struct watch_region *region, uint64_t low, uint64_t high,
                            uint64_t stack, struct watch_running_call *outer) {
    const struct watch_running *running = own_running();
    uint32_t depth = running ? (uint32_t)lesser(running->depth, RUNNING_CALLS) : 0;
    for (uint32_t i = depth; i-- > 0;) {
        *outer = running->calls[i];
        if (outer->stack > stack && !(outer->descriptor & QUIPU_CALL_LEAVES) &&
            call_may_write(outer, region, low, high, false))
            return true;
    }
    return false;
}

void quipu_watch_suspect(const struct watch_region *region, uint64_t low, uint64_t high,
                         uint64_t stack, bool is_strong, uint64_t named,
                         struct watch_suspects *suspects) {
    bool is_alone = quipu_watch_is_only_thread();
    *suspects = (struct watch_suspects){0};
    suspects->more = (!is_alone && ((WATCH->is_late && !is_strong) || region->flags & WATCH_FREED ||
                                    !are_all_known())) ||
                     quipu_watch_is_shared(region, low) || (!WATCH->main_has_checks && !is_strong);
    for (struct watch_running *running = WATCH_RUNNING; running < running_end(); running++) {
        uint64_t thread = __atomic_load_n(&running->thread, __ATOMIC_ACQUIRE);
        uint32_t depth = __atomic_load_n(&running->depth, __ATOMIC_ACQUIRE);
        if (!thread)
            continue;
        suspects->more |= depth > RUNNING_CALLS;
        for (uint32_t i = 0; i < lesser(depth, RUNNING_CALLS); i++) {
            struct watch_running_call call = running->calls[i];
            bool is_other = thread != thread_pointer() || call.stack > stack;
            if (is_other && call.stub != named &&
                call_may_write(&call, region, low, high, is_strong))
                add(suspects, &call, running->tid);
        }
    }
}

uint32_t quipu_watch_count_skipped(void) {
    return __atomic_add_fetch(&WATCH_QUICK->skipped, 1, __ATOMIC_SEQ_CST);
}

uint32_t quipu_watch_note_skipped(uint64_t stub, uint32_t descriptor) {
    struct watch_quick *quick = WATCH_QUICK;
    uint64_t call = stub | (uint64_t)(descriptor >> 16) << 48;
    __atomic_store_n(&quick->skipped_call, call, __ATOMIC_RELAXED);
    uint32_t number = quipu_watch_count_skipped();
    __atomic_store_n(&quick->skipped_number, number, __ATOMIC_RELEASE);
    return number;
}

/* ---- Calls that do not return ---- */

static void note_left(struct watch_running *running, uint64_t stub, uint32_t descriptor) {
    uint32_t number = quipu_watch_note_skipped(stub, descriptor);
    if (!running)
        return;
    __atomic_store_n(&running->left_stub, 0, __ATOMIC_RELEASE);
    running->left_descriptor = descriptor;
    running->left_number = number;
    __atomic_store_n(&running->left_stub, stub, __ATOMIC_RELEASE);
}

void quipu_watch_came_back(uint64_t stack) {
    struct watch_running *running = WATCH_QUICK->tracks ? own_running() : NULL;
    if (!running) { /* it may have left a call that is not recorded */
        quipu_watch_count_skipped();
        return;
    }
    for (uint32_t i = 0; i < lesser(running->depth, RUNNING_CALLS); i++)
        if (is_left(running->calls[i].stack, stack)) {
            note_left(running, running->calls[i].stub, running->calls[i].descriptor);
            break; /* the outermost */
        }
    drop_left(running, stack);
    note_event(running);
}

void quipu_watch_leave(uint64_t stack, uint64_t stub, uint32_t descriptor) {
    struct watch_running *running = own_running();
    note_left(running, stub, descriptor);
    if (!running)
        return;
    struct watch_running_call call = {
        .stack = stack, .stub = stub, .descriptor = descriptor, .low = UINT64_MAX};
    if (WATCH_QUICK->tracks) /* recorded until the thread makes another call */
        quipu_watch_call_begins(&call);
}

/* Whether comparison LATER was skipped after NUMBER. */
static bool is_since(uint32_t later, uint32_t number) {
    return (int32_t)(later - number) > 0;
}

static bool is_suspected(const struct watch_suspects *suspects,
                         const struct watch_running_call *call, uint32_t tid) {
    for (uint32_t i = 0; i < suspects->count; i++)
        if (suspects->calls[i].stub == call->stub && suspects->calls[i].tid == tid)
            return true;
    return false;
}

void quipu_watch_suspect_skipped(uint32_t number, uint64_t named, struct watch_suspects *suspects) {
    const struct watch_quick *quick = WATCH_QUICK;
    uint32_t unnamed = __atomic_load_n(&quick->skipped, __ATOMIC_ACQUIRE) - number;
    if (named && unnamed && is_since(quick->skipped_number, number) && quipu_watch_is_only_thread())
        unnamed--;
    for (struct watch_running *running = WATCH_RUNNING; unnamed && running < running_end();
         running++) {
        struct watch_running_call call = {
            .stub = __atomic_load_n(&running->left_stub, __ATOMIC_ACQUIRE),
            .descriptor = running->left_descriptor};
        bool counts = is_since(running->left_number, number) && call.stub != named;
        if (!call.stub || !counts ||
            __atomic_load_n(&running->left_stub, __ATOMIC_ACQUIRE) != call.stub)
            continue;
        if (!is_suspected(suspects, &call, running->tid))
            add(suspects, &call, running->tid);
        unnamed--;
    }
    suspects->more |= unnamed != 0;
}

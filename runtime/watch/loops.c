/* loops.c: loops that run without checks (format/watch.h, section 2).
 *
 * Each thread has a word for each module, which is taken while it runs a copy of a loop that has no
 * checks.  Who makes a region closes the copies if any word is taken; when none is any more, they
 * are opened again, by a thread that comes out of one.
 *
 * A word is read from where it lies: other threads' as the kernel reads it, since they may have
 * ended, and their memory be gone.  The word of a thread that has ended and whose memory is there
 * still may look taken, as does one that was left by longjmp: then copies are closed for nothing,
 * or stay so.
 *
 * Invariants
 *   - A word is known before it is ever taken.
 *   - Shadow first, words then, and a barrier of all threads between the two: a thread that takes
 * its word behind that sees the region.
 *   - While copies are closed, each thread leaves the one it is in by the next backward jump.
 *
 * Not perfect: the turn that a loop is in when a signal handler makes a region goes on without
 * checks.  Threads that share their thread pointer share the word, too. */
#include "runtime/core/section.h"
#include "runtime/core/syscall.h"
#include "runtime/watch/watch.h"

#include <linux/membarrier.h>

enum {
    OPEN_AFTER = 1 << 22, /* cycles: regions that are made one after the other find copies closed */
};

/* loop_word.c, where there are such loops. */
uint64_t *quipu_watch_find_loop_word(void) __attribute__((weak));
WEAK_HERE(quipu_watch_find_loop_word);

void quipu_watch_loop_began(const uint64_t *frame, uint64_t stack);
void quipu_watch_loop_ended(const uint64_t *frame, uint64_t stack);

static uint64_t now(void) {
    return __builtin_ia32_rdtsc();
}

static bool wait_for_threads_now(void) {
    return SYSTEM_CALL(membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0, 0, 0, 0) == 0;
}

/* All threads see what this one wrote, and this one what they wrote before.  Returns whether it is
 * so.  The kernel wants to know beforehand that this will be asked, which takes it milliseconds
 * where there are threads already: too long for each program whose loops begin, whether or not
 * anything is ever watched, with the lock held. */
static bool wait_for_threads(void) {
    return wait_for_threads_now() ||
           (SYSTEM_CALL(membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0, 0, 0, 0) ==
                0 &&
            wait_for_threads_now());
}

static bool is_taken(uint64_t word) {
    return word > QUIPU_LOOP_NEVER;
}

/* Reads the word.  Returns false where its memory is gone. */
static bool read_word(const struct watch_loop_word *known, uint64_t *word) {
    if (known->thread == thread_pointer()) {
        *word = __atomic_load_n(known->word, __ATOMIC_RELAXED);
        return true;
    }
    return quipu_watch_read(word, (uint64_t)known->word, sizeof *word) == sizeof *word;
}

/* Forgets words whose memory is gone. */
static void drop_gone_words(void) {
    uint64_t word;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < WATCH->loop_words; i++)
        if (read_word(&WATCH_WORDS[i], &word))
            WATCH_WORDS[kept++] = WATCH_WORDS[i];
    WATCH->loop_words = kept;
}

/* Whether the word is known from now on.  The lock is held. */
static bool know_word(const uint64_t *word) {
    struct watch *watch = WATCH;
    for (uint32_t i = 0; i < watch->loop_words; i++)
        if (WATCH_WORDS[i].word == word) { /* in memory of a thread that has ended */
            WATCH_WORDS[i].thread = thread_pointer();
            return true;
        }
    if (watch->loop_words == WATCH_LOOP_WORDS)
        drop_gone_words();
    if (watch->loop_words == WATCH_LOOP_WORDS)
        return false;
    WATCH_WORDS[watch->loop_words++] = (struct watch_loop_word){word, thread_pointer()};
    return true;
}

/* The thread's word is taken for the first time. */
void quipu_watch_loop_began(const uint64_t *frame, uint64_t stack) {
    (void)frame;
    (void)stack;
    uint64_t *word = quipu_watch_find_loop_word();
    if (!quipu_watch_ready || is_forking()) {
        *word = QUIPU_LOOP_NEVER;
        return;
    }
    uint64_t mask = quipu_watch_lock();
    if (*word == QUIPU_LOOP_UNKNOWN)
        *word = know_word(word) ? QUIPU_LOOP_FREE : QUIPU_LOOP_NEVER;
    quipu_watch_unlock(mask);
}

/* Whether a thread may run a loop without checks that has not seen all regions there are. */
static bool may_run_unchecked(void) {
    struct watch *watch = WATCH;
    bool others = false, taken = false;
    for (uint32_t i = 0; i < watch->loop_words; i++)
        others |= WATCH_WORDS[i].thread != thread_pointer();
    if (others && !wait_for_threads())
        return true;
    for (uint32_t i = 0; i < watch->loop_words && !taken; i++) {
        uint64_t word;
        taken = read_word(&WATCH_WORDS[i], &word) && is_taken(word);
    }
    return taken;
}

static long close_all(bool close) {
    long error = 0;
    for (struct watch_module *m = WATCH->modules; m && error == 0; m = m->next) {
        error = close ? m->prepare() : 0;
        if (error == 0)
            error = m->close_loops(close);
    }
    return error;
}

long quipu_watch_stop_loops(void) {
    struct watch *watch = WATCH;
    if (watch->loops_closed || !may_run_unchecked()) {
        watch->loops_time = watch->loops_closed ? now() : 0;
        return 0;
    }
    long error = close_all(true);
    watch->loops_closed = error == 0;
    watch->loops_time = now();
    return error;
}

/* A copy was left because it was closed. */
void quipu_watch_loop_ended(const uint64_t *frame, uint64_t stack) {
    struct watch *watch = WATCH;
    (void)frame;
    (void)stack;
    if (!__atomic_load_n(&watch->loops_closed, __ATOMIC_RELAXED) ||
        now() - __atomic_load_n(&watch->loops_time, __ATOMIC_RELAXED) < OPEN_AFTER || is_forking())
        return;
    uint64_t mask = quipu_watch_lock();
    if (watch->loops_closed && !may_run_unchecked() && close_all(false) == 0)
        watch->loops_closed = false;
    watch->loops_time = now();
    quipu_watch_unlock(mask);
}

void quipu_watch_forget_loops(void) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < WATCH->loop_words; i++)
        if (WATCH_WORDS[i].thread == thread_pointer())
            WATCH_WORDS[kept++] = WATCH_WORDS[i];
    WATCH->loop_words = kept;
}

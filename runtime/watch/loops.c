/* loops.c: loops that run without checks, as copies (format/watch.h, section 2).
 *
 * Each thread has a loop word for each module. It is set while the thread runs a loop copy. A
 * thread that makes a region closes the copies if any word is set. When no word is set any more, a
 * thread that leaves a closed copy opens them again.
 *
 * Words are read where they are. Those of other threads are read through the kernel, since the
 * threads may have ended and their memory may be unmapped. The word of an ended thread whose memory
 * is still mapped may look set; so may a word that longjmp left. Then copies are closed, or stay
 * closed, without need.
 *
 * Invariants
 *   - A word is entered in the list before it is first set.
 *   - A region is first marked in the shadow, then all threads pass a barrier, then the words are
 *     read. A thread that sets its word after the barrier sees the region.
 *   - While copies are closed, each thread leaves its copy at the next backward jump.
 *
 * Not perfect: if a signal handler makes a region, the current iteration of the interrupted loop
 * continues without checks. Threads that share their thread pointer share the word, too. */
#include "runtime/core/section.h"
#include "runtime/core/syscall.h"
#include "runtime/watch/watch.h"

#include <linux/membarrier.h>

enum {
    OPEN_AFTER = 1 << 22, /* cycles: so that several regions made in a row close the copies once */
};

/* loop_word.c, if the module has loop copies. */
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

/* Makes all threads see the earlier writes of this one, and this one see theirs. Returns whether it
 * succeeded. The kernel requires a registration, which takes milliseconds in a process with
 * threads. So it is done here, on demand, and not at the start of each program with loops, most of
 * which watch nothing; the lock would be held meanwhile. */
static bool wait_for_threads(void) {
    return wait_for_threads_now() ||
           (SYSTEM_CALL(membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0, 0, 0, 0) ==
                0 &&
            wait_for_threads_now());
}

static bool is_taken(uint64_t word) {
    return word > QUIPU_LOOP_NEVER;
}

/* Reads the word. Returns false if its memory is unmapped. */
static bool read_word(const struct watch_loop_word *known, uint64_t *word) {
    if (known->thread == thread_pointer()) {
        *word = __atomic_load_n(known->word, __ATOMIC_RELAXED);
        return true;
    }
    return quipu_watch_read(word, (uint64_t)known->word, sizeof *word) == sizeof *word;
}

/* Removes words whose memory is unmapped. */
static void drop_gone_words(void) {
    uint64_t word;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < WATCH->loop_words; i++)
        if (read_word(&WATCH_WORDS[i], &word))
            WATCH_WORDS[kept++] = WATCH_WORDS[i];
    WATCH->loop_words = kept;
}

/* Enters the word in the list. Returns whether it is in the list now. The caller holds the lock. */
static bool know_word(const uint64_t *word) {
    struct watch *watch = WATCH;
    for (uint32_t i = 0; i < watch->loop_words; i++)
        if (WATCH_WORDS[i].word == word) { /* an ended thread had it at the same address */
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

/* The thread sets its word for the first time. */
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

/* Whether a thread may be running a loop copy without having seen all present regions. */
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

/* A copy was left because it is closed. */
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

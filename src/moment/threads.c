/* threads.c: finds the first moment in a run of several threads; see search.h.
 *
 * A copy of a process has one thread only, so nothing can be repeated. The threads run one at a
 * time (serial.c), and debug registers stop them at each write to what the expression reads. The
 * instruction in front of the stop is the writer. So the first moment is found when it happens, or
 * there is an error. Nothing is guessed.
 *
 * In code that does not tick there is no moment. Then the report names the instruction of the
 * program that called the code.
 *
 * Invariant: at each look, everything that was written since the last look was written by one
 * instruction or system call. If this is not true and the expression has become true, it is an
 * error. */
#include "moment/search.h"

#include "moment/changes.h"
#include "moment/watch.h"
#include "symbols/backtrace.h"
#include "symbols/event_tables.h"
#include "tracee/store.h"

#include <string.h>

enum {
    ANY_WATCH = (1 << WATCHES_MAX) - 1
};

static const char too_much[] =
    "it has made a second thread, and from there on the expression must read at most four words, "
    "and the machine must have debug registers; ask for less, or for what is true before that";
static const char not_told[] =
    "it has become true by a write that was not seen: by a system call while another one was under "
    "way, or by another process; no moment can be told";
static const char no_writer[] =
    "it has become true, but which instruction wrote cannot be told by the code in front of it";

static const char may_share[] =
    "it has made a process that may share its memory, by clone, before that";

struct look {
    struct search *search;
    struct serial serial;
    uint64_t words[WATCHES_MAX]; /* watched contents at the last look */
};

static enum outcome fail(struct search *search, const char *wrong) {
    search->wrong = wrong;
    return OUTCOME_FAILED;
}

/* ---- watched memory ---- */

static void read_words(const struct watch *watch, pid_t thread, uint64_t words[WATCHES_MAX]) {
    memset(words, 0, WATCHES_MAX * sizeof *words);
    for (size_t i = 0; i < watch->count; i++)
        read_memory(thread, watch->addresses[i], &words[i], watch->sizes[i]);
}

/* Bit n: the n-th watched word has changed since the last look. */
static unsigned changed_words(const struct look *look, pid_t thread) {
    uint64_t words[WATCHES_MAX];
    unsigned changed = 0;
    read_words(&look->serial.watch, thread, words);
    for (unsigned i = 0; i < WATCHES_MAX; i++)
        changed |= (unsigned)(words[i] != look->words[i]) << i;
    return changed;
}

/* Watches the objects at their present addresses. The expression is false, and THREAD is stopped.
 * Returns false if that is not possible. */
static bool watch_on(struct look *look, pid_t thread) {
    struct watch watch;
    memset(&watch, 0, sizeof watch);
    if (!find_watch(look->search, thread, &watch))
        return false;
    if (memcmp(&watch, &look->serial.watch, sizeof watch) != 0)
        watch_all(&look->serial, &watch);
    read_words(&watch, thread, look->words);
    note_before(look->search, thread);
    return true;
}

/* ---- the moment ---- */

static bool is_instrumented(const struct search *search, uint64_t address) {
    return binary_segment(search->run.binary, address) &&
           has_events_at(search->run.binary, address);
}

/* Returns an address in the innermost instrumented code that has called what THREAD executes; 0:
 * none. */
static uint64_t find_caller(const struct search *search, pid_t thread) {
    struct caller_list list;
    read_callers(thread, &list);
    for (size_t i = 0; i < list.count; i++)
        if (is_instrumented(search, list.addresses[i] - search->run.bias))
            return list.addresses[i] - search->run.bias;
    return 0;
}

/* Records the moment in front of the instruction at ADDRESS of the process. A thread without cells
 * would get the next number. */
static void note_moment(struct look *look, const struct member *member, uint64_t address) {
    struct search *search = look->search;
    uint64_t linked = address - search->run.bias;
    search->thread = member->number ? member->number : look->serial.numbered + 1;
    search->place = is_instrumented(search, linked) ? linked : 0;
    search->ticks =
        read_ticks(&member->ticks, member->self.process, search->run.binary, search->place);
    search->caller = search->place ? 0 : find_caller(search, member->self.process);
    search->address = address;
    search->standing = member->self.process;
    search->instruction = read_instruction(search, member->self.process);
    note_after(search, member->self.process);
}

/* Finds the moment of a write. MEMBER is stopped behind an instruction of its own, and the
 * expression has become true. */
static enum outcome found_write(struct look *look, const struct member *member, unsigned written) {
    if (changed_words(look, member->self.process) & ~written & ANY_WATCH)
        return fail(look->search, not_told);
    uint64_t writer =
        written ? find_writing_instruction(
                      &(struct code_of){look->search->run.binary, look->search->run.bias},
                      member->self.process, &look->serial.watch, written, member->last_write)
                : 0;
    if (!writer)
        return fail(look->search, written ? no_writer : not_told);
    note_moment(look, member, writer);
    return OUTCOME_FOUND;
}

/* Finds the moment of a system call, behind which the expression has become true. No other call may
 * have written meanwhile. */
static enum outcome found_call(struct look *look, const struct member *member) {
    for (size_t i = 0; i < look->serial.members.count; i++) {
        const struct member *other = &look->serial.members.data[i];
        if (other != member && (other->state == MEMBER_AWAY || other->called) &&
            may_have_written(&look->serial, other))
            return fail(look->search, not_told);
    }
    note_moment(look, member, call_site(member->self.process));
    return OUTCOME_FOUND;
}

/* ---- the run ---- */

static enum outcome go_on_and_look(struct look *look) {
    struct search *search = look->search;
    for (;;) {
        struct member *member = NULL;
        enum stop stop = go_on_serial(&look->serial, &member);
        if (stop == STOP_ENDED)
            return OUTCOME_NEVER;
        if (stop == STOP_PROGRAM)
            return fail(search, "it has become another program, by exec, before that");
        if (stop == STOP_CLONE)
            return fail(search, may_share);
        pid_t thread = member->self.process;
        unsigned written = stop == STOP_WRITE ? member->self.written : 0;
        if (look_at(search, thread))
            return stop == STOP_WRITE ? found_write(look, member, written)
                                      : found_call(look, member);
        search->writes += written != 0;
        if (stop == STOP_WRITE)
            member->last_write = next_instruction(thread);
        if (!watch_on(look, thread) || look->serial.cannot_watch)
            return fail(search, too_much);
        if (search->progress)
            search->progress(search);
    }
}

enum outcome search_threads(struct search *search) {
    struct look look = {.search = search};
    struct run *run = &search->run;
    search->in_turns = true;
    restore_our_affinity(&run->affinity);
    drop_copy(&search->lo);
    clear_calls(&run->log);
    take_written(run->first.process);
    enum outcome outcome;
    if (!begin_serial(&look.serial, run))
        outcome = fail(search, may_share);
    else if (!watch_on(&look, run->first.process))
        outcome = fail(search, too_much);
    else
        outcome = go_on_and_look(&look);
    end_serial(&look.serial);
    return outcome;
}

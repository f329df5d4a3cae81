/* threads.c: the first moment of a run of several threads; see search.h.
 *
 * A copy of a process has one thread only, so nothing can be run again.  The threads run one at a
 * time (serial.c), and debug registers stop them at each write to what the expression reads: what
 * stands in front of the thread then is the instruction that wrote.  So the first moment is found
 * when it comes, or there is an error; none is guessed.
 *
 * In code that does not tick there is no moment: it is told which instruction of the program's own
 * has called it.
 *
 * Invariant: at each look, all that has been written since the look before was written by one
 * instruction or system call; where that does not hold and it has become true, it is an error. */
#include "moment/search.h"

#include "data/queries.h"
#include "moment/backtrace.h"
#include "moment/changes.h"
#include "moment/checkpoint.h"
#include "moment/countdown.h"
#include "moment/watch.h"
#include "x86/decode.h"
#include "x86/operand.h"
#include "x86/trap.h"

#include <string.h>

enum {
    INSTRUCTION_MAX = 15,   /* bytes */
    FUNCTION_MAX = 1 << 22, /* bytes of one that is read */
    STORED_AT_ONCE = 4096,  /* bytes, at most, by a repeated string instruction between two stops */
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
    uint64_t words[WATCHES_MAX]; /* what is watched was this at the last look */
};

static enum outcome fail(struct search *search, const char *wrong) {
    search->wrong = wrong;
    return OUTCOME_FAILED;
}

/* ---- what is watched ---- */

static void read_words(const struct watch *watch, pid_t thread, uint64_t words[WATCHES_MAX]) {
    memset(words, 0, WATCHES_MAX * sizeof *words);
    for (size_t i = 0; i < watch->count; i++)
        read_memory(thread, watch->addresses[i], &words[i], watch->sizes[i]);
}

/* Bit n: the n-th is not what it was at the last look. */
static unsigned changed_words(const struct look *look, pid_t thread) {
    uint64_t words[WATCHES_MAX];
    unsigned changed = 0;
    read_words(&look->serial.watch, thread, words);
    for (unsigned i = 0; i < WATCHES_MAX; i++)
        changed |= (unsigned)(words[i] != look->words[i]) << i;
    return changed;
}

/* It is false; THREAD stands. */
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

/* ---- which instruction it was ---- */

/* The start of the function that ADDRESS of the process is in; 0: not known. */
static uint64_t function_start(const struct search *search, pid_t thread, uint64_t address) {
    const struct run *run = &search->run;
    if (!binary_segment(run->binary, address - run->bias))
        return find_function(thread, address);
    const struct symbol *symbol = binary_function(run->binary, address - run->bias);
    return symbol ? symbol->address + run->bias : 0;
}

struct writer {
    uint64_t address; /* 0: there is none */
    struct decoded decoded;
    bool has_range; /* it stored from begin to end */
    uint64_t begin, end;
};

/* The instruction that ends where NEXT begins, by decoding its function from the start. */
static struct writer instruction_before(const struct search *search, pid_t thread, uint64_t next) {
    struct writer writer = {0};
    struct arena arena = {0};
    uint64_t start = function_start(search, thread, next - 1), at = start, last = 0;
    if (!start || next - start > FUNCTION_MAX)
        return writer;
    uint8_t *code = arena_alloc(&arena, next - start);
    if (read_memory(thread, start, code, next - start)) {
        while (at < next && decode_instruction(code + (at - start), next - at, &writer.decoded)) {
            last = at;
            at += writer.decoded.size;
        }
    }
    if (at == next && last && writer.decoded.class == CLASS_PLAIN && writer.decoded.memory.stores) {
        writer.address = last;
        writer.has_range = stored_range(code + (last - start), next - last, last, thread,
                                        &writer.begin, &writer.end);
    }
    arena_release(&arena);
    return writer;
}

/* Whether the instruction at NEXT is a repeated string instruction that stores: that stops behind
 * its stores, in front of itself. */
static bool is_repeated_store(pid_t thread, uint64_t next) {
    uint8_t code[INSTRUCTION_MAX];
    struct decoded decoded;
    size_t size = sizeof code;
    while (size && !read_memory(thread, next, code, size))
        size--;
    return size && decode_instruction(code, size, &decoded) && decoded.repeats &&
           decoded.memory.stores;
}

/* Whether some of what was WRITTEN lies from BEGIN to END. */
static bool is_written(const struct look *look, unsigned written, uint64_t begin, uint64_t end) {
    const struct watch *watch = &look->serial.watch;
    for (size_t i = 0; i < watch->count; i++)
        if (written >> i & 1 && watch->addresses[i] < end &&
            begin < watch->addresses[i] + watch->sizes[i])
            return true;
    return false;
}

/* The instruction behind which MEMBER stands, and which has WRITTEN; 0: it cannot be told.  Data
 * breakpoints stop right behind it; only calls store and go on elsewhere.
 *
 * In front of a repeated store it may be that or the one before.  The one before comes first; so
 * where both may have stored there, and the thread stood here at its last write, too, it is not
 * known whether it came by it again. */
static uint64_t find_writer(const struct look *look, const struct member *member,
                            unsigned written) {
    pid_t thread = member->self.process;
    uint64_t next = next_instruction(thread), place = first_argument(thread); /* %rdi */
    struct writer writer = instruction_before(look->search, thread, next);
    bool fits = writer.address &&
                (!writer.has_range || is_written(look, written, writer.begin, writer.end));
    if (!is_repeated_store(thread, next))
        return fits ? writer.address : 0;
    if (!fits)
        return next;
    bool near = is_written(look, written, place - STORED_AT_ONCE, place + STORED_AT_ONCE);
    if (near && (!writer.has_range || next == member->last_write))
        return 0;
    return writer.address;
}

/* ---- the moment ---- */

static bool is_instrumented(const struct search *search, uint64_t address) {
    return binary_segment(search->run.binary, address) &&
           has_events_at(search->run.binary, address);
}

/* The innermost of the calls that MEMBER is in that instrumented code has made. */
static uint64_t find_caller(const struct search *search, pid_t thread) {
    struct caller_list list;
    read_callers(thread, &list);
    for (size_t i = 0; i < list.count; i++)
        if (is_instrumented(search, list.addresses[i] - search->run.bias))
            return list.addresses[i] - search->run.bias;
    return 0;
}

/* The moment in front of the instruction at ADDRESS of the process.  A thread that has no cells yet
 * would be the next to get a number. */
static void note_moment(struct look *look, const struct member *member, uint64_t address) {
    struct search *search = look->search;
    struct run run = search->run;
    uint64_t linked = address - run.bias;
    run.block = member->block;
    search->thread = member->number ? member->number : look->serial.numbered + 1;
    search->place = is_instrumented(search, linked) ? linked : 0;
    search->ticks = read_ticks(&run, &member->self, search->place);
    search->caller = search->place ? 0 : find_caller(search, member->self.process);
    search->address = address;
    search->standing = member->self.process;
    search->instruction = read_instruction(search, member->self.process);
    note_after(search, member->self.process);
}

/* MEMBER stands where it has become true, by an instruction of its own. */
static enum outcome found_write(struct look *look, const struct member *member, unsigned written) {
    if (changed_words(look, member->self.process) & ~written & ANY_WATCH)
        return fail(look->search, not_told);
    uint64_t writer = written ? find_writer(look, member, written) : 0;
    if (!writer)
        return fail(look->search, written ? no_writer : not_told);
    note_moment(look, member, writer);
    return OUTCOME_FOUND;
}

/* Behind a system call: no other may have written meanwhile. */
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
        unsigned written = stop == STOP_WRITE ? take_written(thread) : 0;
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
    drop_copy(&search->lo);
    clear_calls(&run->log);
    stop_within(run, &run->first, 0);
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

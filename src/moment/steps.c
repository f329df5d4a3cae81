/* steps.c: steps through the last interval; see search.h.
 *
 * The instruction may be in code that does not tick, such as a library's. The moment is then the
 * last instrumented instruction, which called it. Such code may run for long. So it is not stepped,
 * but runs until instrumented code begins again, and stops at each write to what the expression
 * reads. The stop's address shows the instruction that wrote.
 *
 * Sometimes that is not enough: the writer cannot be determined, or there are too few debug
 * registers, and the expression has become true meanwhile. Then the pass is repeated, and that part
 * is stepped. */
#include "format/event.h"
#include "moment/search.h"

#include "moment/changes.h"
#include "moment/watch.h"
#include "symbols/event_tables.h"
#include "tracee/countdown.h"
#include "tracee/hide.h"
#include "tracee/store.h"
#include "x86/kernel.h"

#include <string.h>

enum {
    SLACK_TICKS = 4096, /* beyond so many ticks behind the limit the run has taken another path */
    STEPPED_TICKS = 48, /* an interval of so many ticks is not divided, if it has few steps */
    STEPS_MANY = 10000, /* takes as long as repeating some dozen parts */
    STEPS_TOLD = 1024,  /* steps between two progress reports */
    STEPS_FEW = 64      /* steps in code that does not tick, before the rest runs without steps */
};

static const char went_elsewhere[] =
    "a part of the run was repeated and went another way: the program asks the processor for the "
    "time or for random numbers, or shares memory with other processes";

/* A range of addresses, as linked, that is all instrumented, or not at all. */
struct stretch {
    uint64_t start, size;
    bool instrumented;
};

/* Returns that of the function that contains ADDRESS, or ADDRESS alone if no function is known. */
static struct stretch find_stretch(const struct binary *binary, uint64_t address) {
    const struct symbol *symbol = binary_function(binary, address);
    bool instrumented = has_events_at(binary, address);
    return symbol && symbol->size ? (struct stretch){symbol->address, symbol->size, instrumented}
                                  : (struct stretch){address, 1, instrumented};
}

static bool is_instrumented(const struct binary *binary, uint64_t address, struct stretch *last) {
    if (!binary_segment(binary, address))
        return false;
    if (address - last->start >= last->size)
        *last = find_stretch(binary, address);
    return last->instrumented;
}

/* If PROCESS is stopped in instrumented code, records its instruction and ticks. */
static bool note_place(struct search *search, const struct repeated *process,
                       struct stretch *last) {
    const struct run *run = &search->run;
    uint64_t address = next_instruction(process->process) - run->bias;
    if (!is_instrumented(run->binary, address, last))
        return false;
    search->place = address;
    search->ticks =
        read_ticks(&run->ticks, process->process, run->binary, 0); /* from the cells alone */
    return true;
}

static void add_above(struct search *search) {
    int64_t sums[QUIPU_EVENTS] = {0};
    if (!search->place)
        return;
    add_events_above(search->run.binary, search->place, 0, sums);
    search->ticks += (uint64_t)sums[QUIPU_EVENT_TICKS];
}

/* Whether the repeated part has reached the point of the first process: in front of its last system
 * call, which made the expression true. */
static bool is_last_call(const struct search *search, const struct repeated *process,
                         enum stop stop) {
    return stop == STOP_CAUGHT_UP && process->in_call &&
           process->position == search->run.log.calls.count;
}

enum finding {
    FINDING_NONE, /* not yet; or, for a whole part, it never was true */
    FINDING_LOST, /* the run has taken another path */
    FINDING_TRUE, /* the process is stopped behind the instruction */
    FINDING_CALL, /* it is stopped in front of the run's last call, which made it true */
    FINDING_LONG, /* more than the allowed steps are needed */
    FINDING_PART  /* it became true in the part that ran last without steps */
};

/* One pass from `lo` on. */
struct pass {
    struct search *search;
    struct repeated process; /* a copy */
    code_list code;          /* code that is hidden from the copy at times */
    struct stretch last;
    uint64_t outside; /* consecutive steps in code that does not tick */
    /* Number of parts so far, and number of the part that must be stepped; 0: none. */
    size_t parts, stepped;
    bool stepping; /* the process is in the part that is stepped */
};

static bool is_true(const struct pass *pass) {
    struct process_memory memory = process_memory(pass->process.process, pass->search->run.bias);
    return evaluate(pass->search->expression, &memory.memory) == TRUTH_TRUE;
}

/* ---- parts without steps ---- */

/* The process is stopped by STOP, and the expression has become true. SEEN: the debug registers
 * were set. Sets the address of the writer. */
static enum finding find_writer(struct pass *pass, enum stop stop, bool seen,
                                const struct watch *watch, uint64_t last_write) {
    struct search *search = pass->search;
    const struct repeated *process = &pass->process;
    search->address = 0;
    if (seen && stop == STOP_WRITE)
        search->address =
            find_writing_instruction(&(struct code_of){search->run.binary, search->run.bias},
                                     process->process, watch, process->written, last_write);
    else if (seen && stop == STOP_CALL)
        search->address = call_site(process->process);
    return search->address ? FINDING_TRUE : FINDING_PART;
}

/* Continues with the code hidden until the expression is true or instrumented code begins. */
static enum finding go_through(struct pass *pass) {
    struct search *search = pass->search;
    struct repeated *process = &pass->process;
    struct watch watch;
    uint64_t last_write = 0;
    for (;;) {
        bool seen = watch_objects(search, process->process, &watch);
        note_before(search, process->process);
        end_steps(process->process);
        enum stop stop = go_on(&search->run, process, false);
        if (is_last_call(search, process, stop)) {
            search->address = call_site(process->process);
            return FINDING_CALL;
        }
        if (stop == STOP_CAUGHT_UP || stop == STOP_ENDED)
            return FINDING_LOST;
        if (is_true(pass))
            return find_writer(pass, stop, seen, &watch, last_write);
        if (process->signal != SIGTRAP)
            /* A fault of the program itself occurs again when the instruction is stepped. */
            process->signal = 0;
        if (stop == STOP_FAULT)
            return FINDING_NONE;
        last_write = stop == STOP_WRITE ? next_instruction(process->process) : last_write;
    }
}

/* Whether a part without steps begins here. If so, the code is hidden. */
static bool begins_part(struct pass *pass) {
    if (pass->stepping || !pass->outside || pass->outside % STEPS_FEW != 0 ||
        !hide_code(&pass->search->run, &pass->process, &pass->code))
        return false;
    pass->stepping = ++pass->parts == pass->stepped;
    if (pass->stepping)
        reveal_code(&pass->search->run, &pass->process, &pass->code);
    return !pass->stepping;
}

static enum finding run_through(struct pass *pass) {
    enum finding finding = go_through(pass);
    pid_t process = pass->process.process;
    pass->outside = 0;
    if (finding == FINDING_LOST || finding == FINDING_CALL)
        return finding;
    watch_memory(process, NULL, NULL, 0);
    return reveal_code(&pass->search->run, &pass->process, &pass->code) ? finding : FINDING_LOST;
}

/* ---- steps ---- */

static enum finding step(struct pass *pass) {
    struct search *search = pass->search;
    struct repeated *process = &pass->process;
    search->address = next_instruction(process->process);
    note_before(search, process->process);
    enum stop stop = go_on(&search->run, process, true);
    search->steps++;
    if (is_last_call(search, process, stop))
        return FINDING_CALL;
    if (stop == STOP_CAUGHT_UP || stop == STOP_ENDED)
        return FINDING_LOST;
    return is_true(pass) ? FINDING_TRUE : FINDING_NONE;
}

/* Continues until the expression is true, by at most MOST steps. */
static enum finding step_copy(struct pass *pass, uint64_t most) {
    struct search *search = pass->search;
    for (uint64_t steps = 1; steps <= most; steps++) {
        bool inside = note_place(search, &pass->process, &pass->last);
        pass->outside = inside ? 0 : pass->outside + 1;
        pass->stepping &= !inside;
        enum finding finding = begins_part(pass) ? run_through(pass) : step(pass);
        if (finding != FINDING_NONE)
            return finding;
        if (inside && search->ticks > search->limit + SLACK_TICKS)
            return FINDING_LOST; /* outside, the runtime may be about to set a countdown */
        if (search->progress && steps % STEPS_TOLD == 0)
            search->progress(search);
    }
    return FINDING_LONG;
}

static enum finding begin_pass(struct pass *pass, uint64_t most) {
    struct search *search = pass->search;
    pass->parts = pass->outside = 0;
    pass->stepping = false;
    search->place = 0;
    search->wrong = make_copy(&search->run, &search->lo, &pass->process);
    return search->wrong ? FINDING_LOST : step_copy(pass, most);
}

/* There may be many steps between two ticks. Then the interval is divided further. When this
 * returns without an error, the process of PASS is a copy. */
static enum finding find_instruction(struct pass *pass) {
    struct search *search = pass->search;
    for (uint64_t ticks = STEPPED_TICKS;; ticks = (ticks + 7) / 8) {
        uint64_t most = ticks > 1 ? STEPS_MANY : UINT64_MAX - 1;
        come_closer(search, ticks);
        if (!search->wrong &&
            !stop_within(&search->run.ticks, &search->lo.countdown, search->lo.process, 0))
            search->wrong = "its memory cannot be written";
        if (search->wrong)
            return FINDING_LOST;
        pass->stepped = 0;
        enum finding finding = begin_pass(pass, most);
        while (finding == FINDING_PART) {
            pass->stepped = pass->parts;
            drop_copy(&pass->process);
            finding = begin_pass(pass, most);
        }
        if (finding != FINDING_LONG)
            return finding;
        drop_copy(&pass->process);
    }
}

void step_to_moment(struct search *search) {
    struct pass pass = {.search = search};
    find_code(search->arena, search->run.binary, &pass.code);
    enum finding finding = find_instruction(&pass);
    drop_copy(&search->lo);
    if (!search->wrong && finding == FINDING_LOST)
        search->wrong = went_elsewhere;
    if (!search->wrong) {
        add_above(search);
        search->instruction = read_instruction(search, pass.process.process);
    }
    if (search->wrong || finding == FINDING_CALL)
        drop_copy(&pass.process); /* only the first process is behind the call */
    search->lo = pass.process;
    search->standing = search->lo.process ? search->lo.process : search->run.tracee.process;
    if (!search->wrong)
        note_after(search, search->standing);
}

static void note_begin(struct search *search) {
    struct run *run = &search->run;
    search->place = run->place - run->bias;
    search->ticks = read_ticks(&run->ticks, run->first.process, run->binary, search->place);
    search->standing = run->first.process;
    note_after(search, search->standing);
}

void find_first_place(struct search *search) {
    struct run *run = &search->run;
    address_list begin = {0};
    note_before(search, run->first.process);
    if (search->from->count) {
        note_begin(search);
        return;
    }
    for (size_t i = 0; i < run->binary->names.count; i++)
        if (strcmp(run->binary->names.data[i].name, "main") == 0)
            vector_push(search->arena, &begin, run->binary->names.data[i].address);
    if (begin.count && go_to_place(run, &begin) == STOP_PLACE)
        note_begin(search);
}

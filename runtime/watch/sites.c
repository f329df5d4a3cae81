/* sites.c: arms checks that were left out, when they are needed (Wahbe, Lucco and Graham 1993,
 * section 4; format/watch.h, section 2).
 *
 * A region over a variable arms the checks of that variable's stores. A region where a stack may be
 * (memory.c) arms the checks of all stores to the stack. A watched local arms only those in its
 * function's frame, and stores that may leave a frame, as in assembly; if a stack may be in the
 * local, it arms all.
 *
 * A query before calls of code without checks is armed for all such calls, once its answer may be
 * yes. It is not armed if the callee, which the shim did not know, is in this module. The query
 * after a call is armed when a begin is first reported there; if begins are not reported, it is
 * armed together with the one before. Calls through pointers always test whether the callee is in
 * `quipu_watch_callees`. Once anything is watched, this excludes the callees of other modules.
 *
 * Invariant: `sorted` has the module's sites of stores to variables, by variable.
 * Not perfect: armed checks stay armed. A stack in a variable, in the heap or in a watched local is
 * not recognized if only code without checks switches to it, and not by the C library. */
#include "format/data_file.h"
#include "runtime/core/section.h"
#include "runtime/core/sort.h"
#include "runtime/patch/patch.h"
#include "runtime/watch/watch.h"

#include <errno.h>
#include <sys/auxv.h>

extern const struct quipu_site quipu_sites_begin[], quipu_sites_end[];
extern const char __ehdr_start[], _end[] __attribute__((visibility("hidden")));

enum {
    BND = 0xf2,
    CALL_SLOT = 0xff,
    CALL_SLOT_MODE = 0x15,
    JMP_SLOT_MODE = 0x25,
    JMP_SLOT_SIZE = 6,
    VARIABLES = sizeof((struct watch_module *)NULL)->variables / sizeof(struct watch_range),
};

/* Address and size of the instrumented text. Inserted code compares callees with it. */
extern uint64_t quipu_watch_text[2];
uint64_t quipu_watch_text[2];

/* Address and size of code to which calls through pointers need no report. */
extern uint64_t quipu_watch_callees[2];
uint64_t quipu_watch_callees[2] = {0, UINT64_MAX};

/* This module. */
static struct watch_module module;

const struct quipu_site *quipu_watch_sites(uint64_t *count) {
    *count = section_size(quipu_sites_begin, quipu_sites_end) / sizeof *quipu_sites_begin;
    return quipu_sites_begin;
}

static uint64_t place_of(const struct quipu_site *site) {
    return relative_address(&site->place);
}

static uint64_t variable_of(const struct quipu_site *site) {
    return relative_address(&site->target);
}

static uint64_t code_of(const struct quipu_site *site) {
    return relative_address(&site->code);
}

static bool is_of_anywhere(const struct quipu_site *site) {
    return site->place == 0;
}

static bool is_of_function(const struct quipu_site *site) {
    return site->size >= QUIPU_SITE_BEGIN;
}

static bool is_of_loop(const struct quipu_site *site) {
    return site->size == QUIPU_SITE_LOOP;
}

/* A store that stays in its function's frame. */
static bool is_of_frame(const struct quipu_site *site) {
    return site->size == QUIPU_SITE_FRAME || site->size == QUIPU_SITE_FRAME_CALL;
}

static bool is_of_variable(const struct quipu_site *site) {
    return site->code && site->target && !is_of_function(site) && !is_of_frame(site);
}

/* A store by the stack pointer, to any address. */
static bool is_of_stack(const struct quipu_site *site) {
    return site->place && site->code && !site->target && !is_of_function(site);
}

/* ---- Text ---- */

static long lead_out(uint64_t place, uint64_t code) {
    if (is_patched(place))
        return 0;
    long error = quipu_patch_open(place, place, true);
    if (error < 0)
        return error;
    quipu_patch_site(place, code, false);
    quipu_patch_open(place, place, false);
    quipu_patch_synchronize();
    return 0;
}

static long arm_check(const struct quipu_site *site) {
    return lead_out(place_of(site), code_of(site));
}

bool quipu_watch_arm_site(uint64_t place, uint64_t code) {
    if (is_patched(place))
        return true;
    uint64_t mask = quipu_watch_lock();
    long error = lead_out(place, code);
    quipu_watch_unlock(mask);
    return error == 0;
}

/* ---- This module's sites ---- */

static bool is_before(uint32_t left, uint32_t right) {
    return variable_of(&quipu_sites_begin[left]) < variable_of(&quipu_sites_begin[right]);
}

/* Whether there are any sites. */
static bool has_text(void) {
    return module.text_begin <= module.text_end;
}

/* Makes the text writable and calls APPLY with each site and DATA. Returns 0, also if there are no
 * sites, or the negative error number. */
static long change_sites(void (*apply)(const struct quipu_site *, void *), void *data) {
    if (!has_text())
        return 0;
    uint64_t count;
    const struct quipu_site *sites = quipu_watch_sites(&count);
    long error = quipu_patch_open(module.text_begin, module.text_end, true);
    if (error < 0)
        return error;
    for (const struct quipu_site *site = sites; site < sites + count; site++)
        apply(site, data);
    quipu_patch_open(module.text_begin, module.text_end, false);
    quipu_patch_synchronize();
    return 0;
}

/* ---- Calls ---- */

/* Returns the callee of the direct call, or call through a slot, that returns to PC; 0 for other
 * calls. */
static uint64_t slot_callee(uint64_t pc) {
    const uint8_t *end = (const uint8_t *)pc;
    int32_t distance = 0;
    copy_bytes(&distance, end - sizeof distance, sizeof distance);
    uint64_t at = pc + (uint64_t)(int64_t)distance;
    if (end[-5] == CALL_NEAR)
        return at;
    return end[-6] == CALL_SLOT && end[-5] == CALL_SLOT_MODE ? *(const uint64_t *)at : 0;
}

/* Returns the function that the jump at PC enters, directly or through a slot; 0: not known. */
static uint64_t jump_callee(uint64_t pc) {
    const uint8_t *jump = (const uint8_t *)pc;
    jump += *jump == BND;
    if (is_jump(jump))
        return (uint64_t)target_of_jump(jump);
    if (jump[0] != JMP_SLOT || jump[1] != JMP_SLOT_MODE)
        return 0;
    const uint8_t *end = jump + JMP_SLOT_SIZE;
    return *(const uint64_t *)(end + distance_at(end - sizeof(int32_t)));
}

/* Returns the query before the call at SITE, as flags WATCH_ASKS_...; 0: it is not a call. */
static unsigned questions_of(const struct quipu_site *site) {
    switch (site->size) {
    case QUIPU_SITE_CALL:
    case QUIPU_SITE_CALL_WITHIN:
        return WATCH_ASKS_ARMED;
    case QUIPU_SITE_CALL_BEGINS:
        return WATCH_ASKS_BEGINS;
    case QUIPU_SITE_CALL_LIBRARY:
        return WATCH_ASKS_LIBRARY;
    case QUIPU_SITE_CALL_LIBRARY_BEGINS:
        return WATCH_ASKS_LIBRARY_BEGINS;
    default:
        return 0;
    }
}

/* Returns the query after the call at SITE, if all regions are compared there; 0: none. */
static unsigned questions_behind(const struct quipu_site *site) {
    if (!site->target)
        return 0;
    switch (site->size) {
    case QUIPU_SITE_CALL_BEGINS:
    case QUIPU_SITE_CALL_WITHIN:
        return WATCH_ASKS_ARMED;
    case QUIPU_SITE_CALL_LIBRARY_BEGINS:
        return WATCH_ASKS_LIBRARY;
    default:
        return 0;
    }
}

static void arm_of_call(const struct quipu_site *site, void *data) {
    unsigned asked = *(const unsigned *)data & ~module.asked;
    unsigned asked_behind = questions_behind(site);
    uint64_t behind = site->target ? variable_of(site) - X86_JUMP_SIZE : 0;
    if (asked_behind && quipu_watch_has_checks(slot_callee(behind)))
        return;
    if (questions_of(site) && !behind &&
        quipu_watch_has_checks(jump_callee(place_of(site) + X86_JUMP_SIZE)))
        return;
    bool is_back = site->size == QUIPU_SITE_BACK && asked & WATCH_ASKS_ARMED;
    if (is_back || questions_of(site) & asked)
        quipu_patch_site(place_of(site), code_of(site), false);
    if (asked_behind & asked)
        quipu_patch_site(behind, code_of(site) - QUIPU_SITE_RETURN_SIZE, false);
}

/* From now on, calls through pointers report callees of other modules; if the checks of their
 * return addresses are armed, all callees. A thread that reads the size during the change finds no
 * callee in the range, and reports the call. */
static void ask_for_callees(void) {
    uint64_t size = module.stack_is_back || module.calls_are_back ? 0 : quipu_watch_text[1];
    __atomic_store_n(&quipu_watch_callees[1], 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&quipu_watch_callees[0], quipu_watch_text[0], __ATOMIC_SEQ_CST);
    __atomic_store_n(&quipu_watch_callees[1], size, __ATOMIC_SEQ_CST);
}

/* Arms the queries that ASKED selects (flags WATCH_ASKS_...). */
static long arm_calls(unsigned asked) {
    if (!(asked & ~module.asked))
        return 0;
    long error = change_sites(arm_of_call, &asked);
    if (error == 0 && has_text()) {
        module.asked |= asked;
        ask_for_callees();
    }
    return error;
}

/* Makes `sorted`. Returns 0 or -ENOMEM. */
static long prepare(void) {
    uint64_t all;
    const struct quipu_site *sites = quipu_watch_sites(&all);
    if (module.prepared)
        return 0;
    uint32_t *sorted = quipu_watch_map(all * sizeof *sorted + 1);
    if (!sorted || !quipu_watch_sort_code(sites, all))
        return -ENOMEM;
    uint64_t count = 0;
    module.text_begin = UINT64_MAX;
    for (uint64_t i = 0; i < all; i++) {
        const struct quipu_site *site = &sites[i];
        if (is_of_anywhere(site)) {
            WATCH->stacks_anywhere = true;
            quipu_watch_forget_stack_bounds();
            continue;
        }
        module.text_begin = lesser(module.text_begin, place_of(site));
        module.text_end = greater(module.text_end, place_of(site));
        if (questions_of(site) && site->target) /* the no-operation after the call */
            module.text_end = greater(module.text_end, variable_of(site) - X86_JUMP_SIZE);
        if (!is_of_variable(site))
            continue;
        module.longest = greater(module.longest, site->size);
        sorted[count++] = (uint32_t)i;
    }
    quipu_sort(sorted, count, is_before);
    module.sorted = sorted;
    module.count = count;
    module.prepared = true;
    struct watch_range code = quipu_watch_longest_code();
    quipu_watch_text[0] = code.address;
    quipu_watch_text[1] = code.length;
    return 0;
}

/* Arms the checks of stores to [ADDRESS, END). */
static long arm_variables(uint64_t address, uint64_t end) {
    long error = 0;
    uint64_t low = 0, high = module.count, from = address - lesser(address, module.longest);
    while (low < high) {
        uint64_t middle = (low + high) / 2;
        if (variable_of(&quipu_sites_begin[module.sorted[middle]]) < from)
            low = middle + 1;
        else
            high = middle;
    }
    for (; error == 0 && low < module.count; low++) {
        const struct quipu_site *site = &quipu_sites_begin[module.sorted[low]];
        if (variable_of(site) >= end)
            break;
        if (variable_of(site) + site->size > address)
            error = arm_check(site);
    }
    return error;
}

/* Arms the check of a store to the stack. A function's entry may use the same no-operation; its
 * code continues at the check. The check of a call continues at the query before the call, and
 * replaces its jump. */
static void arm_store(const struct quipu_site *site) {
    if (site->code)
        quipu_patch_site(place_of(site), code_of(site), site->size == QUIPU_SITE_FRAME_CALL);
}

static void arm_of_stack(const struct quipu_site *site, void *data) {
    (void)data;
    if (is_of_stack(site) || is_of_frame(site))
        arm_store(site);
}

/* Arms the checks of all stores to the stack. */
static long arm_stack(void) {
    if (module.stack_is_back)
        return 0;
    long error = change_sites(arm_of_stack, NULL);
    module.stack_is_back = error == 0 && has_text();
    if (module.stack_is_back)
        ask_for_callees();
    return error;
}

struct function_sites {
    uint64_t function;
    long begins;         /* number of its entries */
    bool calls_pointers; /* it has calls through pointers */
};

/* Arms the function's own sites, and those that belong to no function. */
static void arm_of_function(const struct quipu_site *site, void *data) {
    struct function_sites *sites = data;
    bool is_own = site->target && variable_of(site) == sites->function;
    if (is_of_stack(site) || (is_of_frame(site) && is_own)) {
        arm_store(site);
        sites->calls_pointers |= !site->code;
    }
    if ((site->size != QUIPU_SITE_BEGIN && site->size != QUIPU_SITE_END) || !is_own)
        return;
    /* The entry may share the no-operation of pushes. Its code continues at their check. */
    quipu_patch_site(place_of(site), code_of(site), site->size == QUIPU_SITE_BEGIN);
    sites->begins += site->size == QUIPU_SITE_BEGIN;
}

/* Makes FUNCTION report its entry and ends, and all functions the points to which execution may
 * return. Arms the checks of stores that may write to its frame. */
static long arm_function(uint64_t function) {
    struct function_sites sites = {.function = function};
    long error = change_sites(arm_of_function, &sites);
    if (error < 0)
        return error;
    module.tells_frames |= has_text();
    if (sites.calls_pointers && !module.calls_are_back) {
        module.calls_are_back = true;
        ask_for_callees();
    }
    return sites.begins;
}

static void lead_loop(const struct quipu_site *site, void *data) {
    const bool *close = data;
    if (!is_of_loop(site))
        return;
    uint64_t place = place_of(site), to = *close ? code_of(site) : variable_of(site);
    *(volatile uint32_t *)place = (uint32_t)(to - place - sizeof(uint32_t));
}

/* Redirects the backward jumps of all loop copies to the checked loops, or back into the copies. */
static long close_loops(bool close) {
    return change_sites(lead_loop, &close);
}

/* ---- All modules ---- */

long quipu_watch_arm_calls(unsigned asked) {
    long error = 0;
    if (!(asked & ~WATCH->asked))
        return 0;
    for (struct watch_module *m = WATCH->modules; m && error == 0; m = m->next) {
        error = m->prepare();
        if (error == 0)
            error = m->arm_calls(asked);
    }
    if (error == 0)
        WATCH->asked |= asked;
    return error;
}

long quipu_watch_arm_stores(uint64_t address, uint64_t end) {
    long error = quipu_watch_arm_calls(WATCH_ASKS_ARMED);
    bool is_variable = false;
    for (struct watch_module *m = WATCH->modules; m && error == 0; m = m->next) {
        error = m->prepare();
        is_variable |= address >= m->begin && end <= m->end;
    }
    bool may_be_stack = quipu_watch_may_be_stack(address, end, is_variable);
    for (struct watch_module *m = WATCH->modules; m && error == 0; m = m->next) {
        if (address < m->end && end > m->begin)
            error = m->arm_variables(address, end);
        if (may_be_stack && !m->stack_is_back && error == 0)
            error = m->arm_stack();
    }
    return error;
}

/* Arms the checks of all stores to the stack, in all modules. */
static long arm_stacks(void) {
    long error = 0;
    for (struct watch_module *m = WATCH->modules; m && error == 0; m = m->next)
        error = m->stack_is_back ? 0 : m->arm_stack();
    return error;
}

/* Memory that was unmapped meanwhile may be the new thread's stack. */
void quipu_watch_note_threads(void) {
    uint64_t mask = quipu_watch_lock();
    WATCH->stacks_apart = arm_stacks() != 0;
    quipu_watch_unlock(mask);
}

/* ---- Variables ---- */

/* Sets the module's readable segments of variables. */
static void find_variables(void) {
    struct segments own = quipu_own_segments();
    unsigned count = 0;
    for (unsigned i = 0; i < own.count && count < VARIABLES; i++)
        if (own.data[i].p_type == PT_LOAD && own.data[i].p_flags & PF_W)
            module.variables[count++] =
                (struct watch_range){own.bias + own.data[i].p_vaddr, own.data[i].p_memsz};
    /* If any function of the C library is in this module, it is linked statically. */
    module.has_library = (uint64_t)getauxval - module.begin < module.end - module.begin;
}

uint16_t quipu_watch_kind_of_variable(uint64_t address, uint64_t size) {
    for (const struct watch_module *m = WATCH->modules; m; m = m->next)
        for (unsigned i = 0; i < VARIABLES; i++) {
            const struct watch_range *range = &m->variables[i];
            if (address >= range->address && size <= range->length &&
                address - range->address <= range->length - size)
                return m->has_library ? WATCH_STEADY : WATCH_STEADY | WATCH_OWN;
        }
    return 0;
}

bool quipu_watch_overlaps_module(uint64_t address, uint64_t end) {
    for (const struct watch_module *m = WATCH->modules; m; m = m->next)
        if (address < m->end && end > m->begin)
            return true;
    return false;
}

long quipu_watch_arm_function(uint64_t function) {
    long begins = 0, error = quipu_watch_arm_calls(WATCH_ASKS_ARMED);
    for (struct watch_module *m = WATCH->modules; m && error >= 0; m = m->next) {
        error = m->prepare();
        if (error >= 0 && (!m->tells_frames || (function >= m->begin && function < m->end)))
            error = m->arm_function(function);
        begins += error > 0 ? error : 0;
    }
    return error < 0 ? error : begins ? 0 : -EOPNOTSUPP;
}

bool quipu_watch_is_own(uint64_t address) {
    return address >= module.begin && address < module.end;
}

bool quipu_watch_has_module(uint64_t address) {
    for (const struct watch_module *m = WATCH->modules; m; m = m->next)
        if (address >= m->begin && address < m->end)
            return true;
    return false;
}

/* The executable's module is the oldest. */
long quipu_watch_lead_all_threads(void) {
    const struct watch_module *oldest = WATCH->modules;
    while (oldest && oldest->next)
        oldest = oldest->next;
    return oldest ? oldest->lead_threads(oldest->begin, oldest->end) : 0;
}

/* Arms what this module, which is starting, needs for existing regions. */
static void catch_up(void) {
    uint32_t found[WATCH_BATCH], from = 0;
    unsigned count;
    if (!WATCH->count || prepare() < 0)
        return;
    for (const struct watch_module *m = module.next; m; m = m->next)
        if (m->stack_is_back) {
            arm_stack();
            break;
        }
    if (WATCH->stacks_anywhere)
        arm_stacks();
    while ((count = quipu_watch_find(module.begin, module.end, from, found)) > 0) {
        for (unsigned i = 0; i < count; i++) {
            struct watch_region region;
            if (quipu_watch_look(found[i], module.begin, module.end, &region))
                arm_variables(region.address, region.address + region.size);
        }
        from = found[count - 1] + 1;
    }
}

/* Arms functions of this module for locals. Locals of other modules may be passed to its functions.
 * And the module may have been loaded before, with requests for its own locals. */
static void arm_locals(void) {
    const struct watch *watch = WATCH;
    if (watch->local_count)
        quipu_watch_arm_function(0);
    for (uint32_t i = 0; i < watch->local_count; i++) {
        uint64_t function = watch->locals[i].function;
        if (quipu_watch_is_own(function))
            quipu_watch_arm_function(function);
    }
}

void quipu_watch_enter_module(void (*visit)(const char *path),
                              long (*lead_threads)(uint64_t begin, uint64_t end)) {
    struct watch *watch = WATCH;
    module.begin = (uint64_t)__ehdr_start;
    module.end = (uint64_t)_end;
    find_variables();
    module.prepare = prepare;
    module.arm_variables = arm_variables;
    module.arm_stack = arm_stack;
    module.arm_calls = arm_calls;
    module.visit = visit;
    module.arm_function = arm_function;
    module.lead_threads = lead_threads;
    module.close_loops = close_loops;
    uint64_t mask = quipu_watch_lock();
    quipu_watch_find_heap();
    module.next = watch->modules;
    watch->modules = &module;
    watch->visit = (uint64_t)module.visit;
    if (watch->loops_closed && prepare() == 0)
        close_loops(true);
    if (watch->asked && prepare() == 0)
        arm_calls(watch->asked);
    arm_locals();
    catch_up();
    quipu_watch_unlock(mask);
}

void quipu_watch_leave_module(void) {
    uint64_t mask = quipu_watch_lock();
    struct watch_module **link = &WATCH->modules;
    while (*link && *link != &module)
        link = &(*link)->next;
    if (*link)
        *link = module.next;
    quipu_watch_unsteady(module.begin, module.end);
    WATCH->visit = WATCH->modules ? (uint64_t)WATCH->modules->visit : 0;
    quipu_watch_unlock(mask);
}

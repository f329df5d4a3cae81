/* calls.c: checks around calls of code that may have no checks.
 *
 * The C library, the kernel on its behalf, and other code write without checks. Their writes are
 * reported at the call. Either the callee's name determines what it writes
 * (format/watch_callees.h), with its format if it has one (formats.c). Or all regions are compared
 * when it returns.
 *
 * A jump that ends a function becomes a call if the callee's name is known. Other such jumps are
 * reported to the runtime, so that no other call is blamed for what they write.
 *
 * requires: a plan, find_liveness    maintains: as insert.c
 * Not perfect: calls in hand-written code and inline assembly are not checked, nor are conditional
 * jumps that end a function, or jumps that may be those of a switch. */
#include "format/notes.h"
#include "pass/watch/watch.h"

#include "asm/operand.h"
#include "format/watch.h"
#include "format/watch_callees.h"
#include "pass/watch/formats.h"
#include "x86/call_check.h"

#include <string.h>

enum {
    ARGUMENTS = 6 /* in registers */
};

#define NAME_OF_ROW(name, a, b, c)    #name,
#define EXTENTS_OF_ROW(name, a, b, c) {a, b, c},
#define NAME_OF_NOTHING(name)         #name,

static const char *const rows[] = {QUIPU_CALLEES(NAME_OF_ROW)};
static const uint32_t extents[][3] = {QUIPU_CALLEES(EXTENTS_OF_ROW)};
static const char *const of_nothing[] = {QUIPU_CALLEES_OF_NOTHING(NAME_OF_NOTHING)};

/* Sets CALL's row for the call or jump at the end of BLOCK, unless its format makes the row wrong.
 * If the shim cannot read the format, code at the call reads it, where that is cheap: before calls
 * that write ranges there is a query in any case. A jump can become a call if it has no argument on
 * the stack. */
static void set_row(const struct planner *p, const struct basic_block *block, size_t row,
                    struct checked_call *call) {
    bool is_call = is_call_class(last_instruction(p->graph, block)->decoded->class);
    call->callee = (uint32_t)row;
    for (int i = 0; i < 3; i++) {
        if (!quipu_is_condition(extents[row][i]))
            continue;
        uint32_t argument = extents[row][i] & 7;
        bool takes_any = is_call || quipu_extent_a(extents[row][i]); /* in a va_list */
        struct format_use use = use_of_argument(p, block, argument);
        bool holds = !use.writes && (takes_any || use.arguments < ARGUMENTS - argument);
        call->looks = !holds && takes_any && quipu_is_bounded(extents[row]);
        call->callee = holds || call->looks ? call->callee : 0;
    }
}

static bool writes_nothing(struct span name) {
    for (size_t i = 0; i < sizeof of_nothing / sizeof *of_nothing; i++)
        if (span_is(name, of_nothing[i]))
            return true;
    return false;
}

/* Returns the row of the function with that NAME, or 0. */
static size_t find_row(struct span name) {
    for (size_t i = 1; i < sizeof rows / sizeof *rows; i++)
        if (span_is(name, rows[i]))
            return i;
    return 0;
}

bool is_library_name(struct span name) {
    static const char *const operators[] = {"_Znw", "_Zna", "_Zdl", "_Zda"};
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (span_starts(name, operators[i]))
            return true;
    return writes_nothing(name) || find_row(name);
}

/* Sets CALL's row. Returns false if the callee writes nothing. */
static bool find_callee(const struct planner *p, const struct basic_block *block,
                        struct span symbol, struct checked_call *call) {
    if (writes_nothing(symbol))
        return false;
    size_t row = find_row(symbol);
    if (row)
        set_row(p, block, row, call);
    return true;
}

/* Chooses the queries around the call and their sites. DIRECT: code behind the call can find the
 * callee again. */
static void choose_questions(const struct basic_block *block, bool direct,
                             struct checked_call *call) {
    static const struct {
        uint32_t address, site;
        uint32_t begins,
            compared_site; /* replace them if all regions may be compared at the return */
    } questions[] = {
        [QUIPU_ASK_ARMED] = {QUIPU_WATCH_AREA, QUIPU_SITE_CALL, 0, 0},
        [QUIPU_ASK_BEGINS] = {QUIPU_WATCH_AREA, QUIPU_SITE_CALL, QUIPU_WATCH_BEGINS,
                              QUIPU_SITE_CALL_BEGINS},
        [QUIPU_ASK_LIBRARY] = {QUIPU_WATCH_LIBRARY, QUIPU_SITE_CALL_LIBRARY,
                               QUIPU_WATCH_LIBRARY_BEGINS, QUIPU_SITE_CALL_LIBRARY_BEGINS},
        [QUIPU_ASK_ALWAYS] = {QUIPU_WATCH_ALWAYS, 0, 0, 0},
    };
    const uint32_t *row = extents[call->callee];
    enum quipu_callee_question question = quipu_question(row);
    call->begins = questions[question].begins;
    call->behind = questions[question].address;
    bool free_behind = direct && !(block->live_out & REGISTER_R11);
    call->compared = call->begins && free_behind;
    call->question = call->compared ? call->begins : questions[question].address;
    call->site = call->compared ? questions[question].compared_site : questions[question].site;
    call->quick = call->register_free && call->site && quipu_is_bounded(row) ? row : NULL;
    call->within = call->quick && quipu_is_within(row[0]) && free_behind;
    if (call->within) {
        call->compared = true;
        call->behind = QUIPU_WATCH_LIBRARY;
        call->site = QUIPU_SITE_CALL_WITHIN;
    }
}

/* Fills in CALL. Returns whether the call needs checks. */
static bool find_call(const struct planner *p, const struct basic_block *block,
                      const struct graph_instruction *last, struct checked_call *call) {
    const struct unit *unit = p->graph->unit;
    const struct statement *s = statement_of(p, last);
    uint32_t live = live_before(p->graph, block, block->count - 1);
    *call = (struct checked_call){.register_free = !(live & REGISTER_R11),
                                  .frame = frame_at(p, last),
                                  .size = last->decoded->size};
    if (s->symbol == NONE) {
        call->operand = find_indirect_operand(unit, s);
        if (!find_callee(p, block, slot_symbol(call->operand), call))
            return false;
        bool is_call = last->decoded->class == CLASS_CALL_INDIRECT;
        bool is_slot = slot_symbol(call->operand).length;
        call->indirect = is_call && !is_slot && call->operand.length && call->register_free;
        choose_questions(block, is_call && is_slot, call);
        return true;
    }
    const struct symbol *symbol = &unit->symbols.data[s->symbol];
    struct span name = {symbol->name, symbol->length};
    call->symbol = branch_operand(p, s);
    uint32_t label = find_label(unit, s->symbol);
    bool is_checked = label != NONE && enters_checks(p->state, s, label);
    p->state->relies_on_checks |= is_checked;
    if (is_checked || (label == NONE && !find_callee(p, block, name, call)))
        return false;
    choose_questions(block, last->decoded->class == CLASS_CALL, call);
    return true;
}

/* Does the same for LAST, which may be any instruction. */
static bool find_checked_call(const struct planner *p, const struct basic_block *block,
                              const struct graph_instruction *last, struct checked_call *call) {
    return is_call_class(last->decoded->class) && p->graph->function->compiled &&
           !is_tls_call(p->graph->unit, last->statement) && !statement_of(p, last)->inline_asm &&
           code_may_stand(p->graph, block, block->count - 1) && find_call(p, block, last, call);
}

bool has_call_site(const struct planner *p, const struct basic_block *block,
                   const struct graph_instruction *instruction) {
    struct checked_call call;
    return find_checked_call(p, block, instruction, &call) && call.site;
}

/* Inserts the query before the call or jump, and its rows. */
static void insert_question(struct planner *p, uint32_t index, const struct graph_instruction *last,
                            const struct checked_call *call, bool returns, uint32_t label) {
    const struct basic_block *block = &p->graph->blocks.data[index];
    struct buffer text = {0};
    anchor_code(p, &text, block->fragment, sums_in_block(p, index, block->count - 1, true));
    write_call_check(&text, call, returns, label);
    split_block(p, index, block->count - 1);
    insert_at(p, last, &text);
    if (call->site && !call->indirect)
        write_call_row(site_rows(p, block->fragment), call, returns, label);
    if (call->indirect || (call->site && returns))
        write_call_store_row(site_rows(p, block->fragment), call, function_label(p), label);
}

/* Begins the code out of line to which the query jumps. */
static void begin_stub(struct planner *p, uint32_t index) {
    const struct basic_block *block = &p->graph->blocks.data[index];
    buffer_text(&p->far_stubs, "; ");
    write_counted_line(p, &p->far_stubs, last_instruction(p->graph, block));
    anchor_code(p, &p->far_stubs, block->fragment, sums_in_block(p, index, block->count - 1, true));
}

/* Whether the block's jump, described by CALL, leaves the function: it is through the slot of a
 * symbol, or cannot be that of a switch. */
static bool leaves_function(const struct graph *graph, const struct basic_block *block,
                            const struct checked_call *call) {
    if (slot_symbol(call->operand).length)
        return true;
    for (size_t i = 0; i < block->out.count; i++) {
        const struct edge *edge = &graph->edges.data[block->out.data[i]];
        if (edge->kind != QUIPU_EDGE_TAIL || edge->stays)
            return false;
    }
    return block->out.count != 0;
}

static void insert_tail_check(struct planner *p, uint32_t index,
                              const struct graph_instruction *last) {
    const struct basic_block *block = &p->graph->blocks.data[index];
    struct checked_call call;
    if (has_own_convention(p->graph->unit, last->statement) || !find_call(p, block, last, &call) ||
        !leaves_function(p->graph, block, &call))
        return;
    uint32_t label = ++p->state->labels;
    insert_question(p, index, last, &call, false, label);
    begin_stub(p, index);
    if (call.callee)
        write_tail_stub(&p->far_stubs, &call, label);
    else
        write_leaving_stub(&p->far_stubs, &call, label);
}

/* Inserts checks around a system call: the kernel may write what the program requests. */
static void insert_system_checks(struct planner *p, uint32_t index,
                                 const struct graph_instruction *last) {
    const struct basic_block *block = &p->graph->blocks.data[index];
    struct frame_row frame = frame_at(p, last);
    struct buffer before = {0}, behind = {0};
    uint32_t label = ++p->state->labels;
    anchor_code(p, &before, block->fragment, sums_in_block(p, index, block->count - 1, true));
    anchor_code(p, &behind, block->fragment, sums_in_block(p, index, block->count, true));
    write_system_checks(&before, &behind, &frame, label);
    split_block(p, index, block->count - 1);
    insert_at(p, last, &before);
    insert_after(p, last, &behind);
    begin_stub(p, index);
    write_system_stubs(&p->far_stubs, &frame, label);
}

void insert_call_checks(struct planner *p, uint32_t index) {
    const struct graph *graph = p->graph;
    const struct basic_block *block = &graph->blocks.data[index];
    const struct graph_instruction *last = last_instruction(graph, block);
    struct checked_call call;
    struct buffer text = {0};
    if (!last || !code_may_stand(p->graph, block, block->count - 1))
        return;
    if (last->decoded->class == CLASS_SYSTEM)
        insert_system_checks(p, index, last);
    if (!graph->function->compiled || statement_of(p, last)->inline_asm)
        return;
    if (last->decoded->class == CLASS_JUMP || last->decoded->class == CLASS_JUMP_INDIRECT)
        insert_tail_check(p, index, last);
    if (!find_checked_call(p, block, last, &call))
        return;
    uint32_t label = ++p->state->labels;
    insert_question(p, index, last, &call, true, label);
    anchor_code(p, &text, block->fragment, sums_in_block(p, index, block->count, true));
    write_return_check(&text, &call, label);
    insert_after(p, last, &text);
    begin_stub(p, index);
    write_call_stubs(&p->far_stubs, &call, label);
}

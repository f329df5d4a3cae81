/* loops.c: copies of small loops without checks (Wahbe, Lucco and Graham 1993, section 4).
 *
 * The choice before the loop tests whether the copy may run: if nothing is watched at all, or
 * nothing that the loop will write (ranges.c, far.c). If a region appears while it runs, the copy's
 * backward jumps are redirected to the checked loop (format/watch.h, section 2).
 *
 *             choice                    where the loop is entered
 *     head:   checked loop              copy:   loop
 *                                               jcc copy    when closed: to the checked loop
 *                                               release the thread's word
 *                                               jmp behind the loop
 *
 * A loop consists of all blocks that reach one of its backward jumps without passing its head. A
 * loop is copied if it is small, calls nothing, and has at least one check. The copy of an outer
 * loop runs only if nothing is watched, or all that it writes is far away. Then there is no choice
 * before each inner loop. What the inner loops will write is tested in the checked outer loop. The
 * choice is before the head's first instruction, and the backward jumps lead behind it. If the
 * loop's text falls into the head, the choice is out of line, and the entries of the loop jump
 * there.
 *
 * Invariants: each cycle of a copy has a backward jump. The registers and flags at the begins of
 * blocks are the same in both loops. While a copy runs, the thread's loop word is set.
 *
 * requires: a plan, find_liveness    maintains: as insert.c
 * Not perfect: builds that count anything have no copies. */
#include "pass/watch/loops.h"

#include "format/notes.h"
#include "format/watch.h"

#include <stdlib.h>
#include <string.h>

enum {
    INSTRUCTIONS_MAX = 64,
};

static const struct basic_block *block_at(const struct planner *p, uint32_t index) {
    return &p->graph->blocks.data[index];
}

static const struct edge *edge_at(const struct planner *p, uint32_t index) {
    return &p->graph->edges.data[index];
}

/* Returns the block's position in the copy, or NONE. */
static uint32_t place_in(const struct loop_copy *loop, uint32_t index) {
    for (uint32_t i = 0; i < loop->blocks.count; i++)
        if (loop->blocks.data[i] == index)
            return i;
    return NONE;
}

static bool jumps(const struct edge *edge) {
    return edge->kind == QUIPU_EDGE_TAKEN || edge->kind == QUIPU_EDGE_JUMP;
}

/* ---- which loops ---- */

/* Whether the instruction may be copied elsewhere, and does not store by the stack pointer. */
static bool is_plain(const struct planner *p, const struct graph_instruction *instruction) {
    const struct decoded *decoded = instruction->decoded;
    for (uint32_t i = instruction->first_statement; i <= instruction->statement; i++) {
        const struct statement *s = &p->graph->unit->statements.data[i];
        if (s->inline_asm || s->intel || s->opaque)
            return false;
    }
    return !decoded->repeats && decoded->store.kind != ACCESS_STACK &&
           !(decoded->registers_written & REGISTER_RSP);
}

static struct span name_of_jump(const struct planner *p, const struct graph_instruction *jump) {
    const struct unit *unit = p->graph->unit;
    const struct statement *s = statement_of(p, jump);
    return (struct span){unit->text + s->start, statement_word(unit, s)};
}

/* Whether the jump's name alone determines its bytes: no hint, no prefix. */
static bool has_plain_name(const struct planner *p, const struct graph_instruction *jump) {
    struct span name = name_of_jump(p, jump);
    return jump->first_statement == jump->statement &&
           inverted_condition(name.start, name.length) != NULL;
}

/* Whether the block's address decides which handler catches its exceptions: gcc puts labels around
 * such code. Some languages turn faults into exceptions; then the code cannot be copied
 * elsewhere. */
static bool is_guarded(const struct planner *p, const struct basic_block *block) {
    const struct unit *unit = p->graph->unit;
    uint32_t first = unit->symbols.data[p->graph->function->symbol].statement;
    for (uint32_t i = p->graph->instructions.data[block->first].first_statement; i-- > first;) {
        const struct statement *s = &unit->statements.data[i];
        const char *name = s->kind == STATEMENT_LABEL ? unit->symbols.data[s->symbol].name : "";
        size_t length = s->kind == STATEMENT_LABEL ? unit->symbols.data[s->symbol].length : 0;
        if (length > 5 && memcmp(name, ".LEH", 4) == 0)
            return name[4] == 'B';
    }
    return false;
}

/* Whether a copy can end like the block. */
static bool ends_plainly(const struct planner *p, const struct basic_block *block) {
    switch (last_instruction(p->graph, block)->decoded->class) {
    case CLASS_PLAIN:
        return block->out.count == 1;
    case CLASS_JUMP:
        return block->out.count == 1 && has_plain_jump(p->graph, block);
    case CLASS_CONDITIONAL:
        return block->out.count == 2 && has_plain_jump(p->graph, block) &&
               has_plain_name(p, last_instruction(p->graph, block));
    default:
        return false;
    }
}

/* Whether block INDEX allows a copy of the loop. */
static bool is_copyable(const struct planner *p, const struct loop_copy *loop, uint32_t index) {
    const struct graph *graph = p->graph;
    const struct basic_block *block = block_at(p, index), *head = block_at(p, loop->head);
    uint32_t row = p->row_of[graph->instructions.data[head->first].first_statement];
    if (block->fragment != head->fragment || is_entered_from_outside(graph, block))
        return false;
    for (size_t i = 0; i < block->out.count; i++)
        if (!is_block(graph, edge_at(p, block->out.data[i])->target))
            return false;
    if (block->padding)
        return index != loop->head;
    if (is_guarded(p, block))
        return false;
    for (uint32_t i = 0; i < block->count; i++) {
        const struct graph_instruction *instruction = &graph->instructions.data[block->first + i];
        if (!is_plain(p, instruction) || p->row_of[instruction->first_statement] != row ||
            (i + 1 < block->count && instruction->decoded->class != CLASS_PLAIN))
            return false;
    }
    return ends_plainly(p, block);
}

/* Whether a store in the loop has a check that is always armed. */
static bool has_checks(const struct planner *p, const struct loop_copy *loop) {
    for (uint32_t i = 0; i < loop->blocks.count; i++)
        for (uint32_t n = 0; n < block_at(p, loop->blocks.data[i])->count; n++)
            if (needs_check(
                    p, &p->graph->instructions.data[block_at(p, loop->blocks.data[i])->first + n]))
                return true;
    return false;
}

/* Whether an entry of the loop can jump to the choice out of line. */
static bool can_be_redirected(const struct planner *p, const struct edge *edge) {
    if (!is_block(p->graph, edge->source) || !jumps(edge))
        return false;
    const struct basic_block *source = block_at(p, edge->source - 1);
    return last_instruction(p->graph, source)->decoded->class != CLASS_CONDITIONAL_NEAR &&
           has_plain_jump(p->graph, source);
}

/* Decides how all entries of the loop pass its choice. Returns false if they cannot. */
static bool find_way_in(const struct planner *p, struct loop_copy *loop) {
    const struct basic_block *head = block_at(p, loop->head);
    bool redirects = true;
    for (size_t i = 0; i < head->in.count; i++) {
        const struct edge *edge = edge_at(p, head->in.data[i]);
        if (is_block(p->graph, edge->source) && place_in(loop, edge->source - 1) != NONE)
            loop->apart |= !jumps(edge);
        else
            redirects &= can_be_redirected(p, edge);
    }
    return loop->apart ? redirects : code_may_stand(p->graph, head, 0);
}

static int compare_numbers(const void *left, const void *right) {
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return a < b ? -1 : a > b;
}

/* Whether quipu copies the loop of nodes BODY, which begins with its head. Fills in LOOP. The copy
 * of an outer loop is for when nothing is watched, or nothing near. Its inner loops have their own
 * copies, for when something near is. */
static bool choose_loop(struct planner *p, const struct loops *loops, const uint32_t *body,
                        uint32_t count, struct loop_copy *loop) {
    const uint32_t changed = LIVE(REGISTER_R11, FLAGS_ALL);
    uint32_t instructions = 0;
    bool is_nest = false;
    *loop = (struct loop_copy){.head = body[0] - 1};
    if (!is_block(p->graph, body[0]) || block_at(p, loop->head)->padding ||
        (block_at(p, loop->head)->live_in & changed))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (!is_block(p->graph, body[i]) || !is_copyable(p, loop, body[i] - 1))
            return false;
        is_nest |= i && loops->is_head[body[i]];
        instructions += block_at(p, body[i] - 1)->count;
        vector_push(p->graph->arena, &loop->blocks, body[i] - 1);
    }
    if (instructions > INSTRUCTIONS_MAX || !loop->blocks.count)
        return false;
    qsort(loop->blocks.data, count, sizeof *loop->blocks.data, compare_numbers);
    if (!has_checks(p, loop) || !find_way_in(p, loop))
        return false;
    if (!is_nest)
        find_ranges(p, loops, loop);
    find_far(p, loop);
    return true;
}

/* ---- edits of the original ---- */

/* Redirects the jump along EDGE to TARGET. */
static void redirect(struct planner *p, const struct edge *edge, const char *target) {
    const struct unit *unit = p->graph->unit;
    const struct statement *s =
        statement_of(p, last_instruction(p->graph, block_at(p, edge->source - 1)));
    struct span operand = branch_operand(p, s);
    replace_text(&p->state->edits, (uint32_t)(operand.start - unit->text),
                 (uint32_t)(unit->text + s->end - operand.start), target);
}

static const struct graph_instruction *first_instruction(const struct planner *p, uint32_t index) {
    return &p->graph->instructions.data[block_at(p, index)->first];
}

/* Writes the label to which a closed copy returns. */
static void label_checked(struct planner *p, const struct loop_copy *loop, uint32_t index) {
    struct buffer text = {0};
    buffer_print(&text, ".LQlc%u_%u:", loop->text.label, index);
    insert_at(p, first_instruction(p, index), &text);
}

/* Whether a backward jump of the copy leads to the block. */
static bool is_jumped_back_to(const struct planner *p, const struct loop_copy *loop,
                              uint32_t index) {
    const struct basic_block *block = block_at(p, index);
    for (size_t i = 0; i < block->in.count; i++) {
        const struct edge *edge = edge_at(p, block->in.data[i]);
        uint32_t from = is_block(p->graph, edge->source) ? place_in(loop, edge->source - 1) : NONE;
        if (from != NONE && from >= place_in(loop, index))
            return true;
    }
    return false;
}

static void edit_original(struct planner *p, struct loop_copy *loop) {
    struct arena *arena = &p->state->unit->arena;
    const struct basic_block *head = block_at(p, loop->head);
    const char *to = loop->apart ? arena_print(arena, ".LQlp%u", loop->text.label)
                                 : arena_print(arena, ".LQlc%u_%u", loop->text.label, loop->head);
    for (size_t i = 0; i < head->in.count; i++) {
        const struct edge *edge = edge_at(p, head->in.data[i]);
        bool inside = is_block(p->graph, edge->source) && place_in(loop, edge->source - 1) != NONE;
        if (inside != loop->apart)
            redirect(p, edge, to);
    }
    if (!loop->apart) {
        struct buffer text = {0};
        write_loop_choice(&text, &loop->text, asks_where(loop));
        insert_at(p, first_instruction(p, loop->head), &text);
    }
    for (uint32_t i = 0; i < loop->blocks.count; i++) {
        uint32_t index = loop->blocks.data[i];
        const struct basic_block *block = block_at(p, index);
        if (index == loop->head || is_jumped_back_to(p, loop, index))
            label_checked(p, loop, index);
        for (size_t e = 0; e < block->out.count; e++)
            if (!jumps(edge_at(p, block->out.data[e])) &&
                place_in(loop, edge_at(p, block->out.data[e])->target - 1) == NONE) {
                struct buffer text = {0};
                buffer_print(&text, ".LQlk%u_%u:", loop->text.label, index);
                insert_after(p, last_instruction(p->graph, block), &text);
            }
    }
}

void plan_loops(struct planner *p) {
    const struct graph *graph = p->graph;
    struct loops loops;
    if (!p->state->options->eliminate || !graph->function->compiled)
        return;
    find_loops(&loops, graph);
    uint32_t *body = ARENA_ARRAY(graph->arena, uint32_t, loops.nodes);
    for (uint32_t i = 1; i < loops.nodes; i++) {
        struct loop_copy loop;
        if (!loops.is_head[i])
            continue;
        uint32_t count = loop_body(&loops, i, body);
        if (!choose_loop(p, &loops, body, count, &loop))
            continue;
        loop.text = (struct loop_text){.label = ++p->state->labels,
                                       .head = loop.head,
                                       .shared = p->state->options->shared,
                                       .frame = frame_at(p, first_instruction(p, loop.head))};
        if (!counts_anything(p->state->options)) /* else only its checks are reported */
            edit_original(p, &loop);
        struct loop_copy *kept = ARENA_ARRAY(graph->arena, struct loop_copy, 1);
        *kept = loop;
        vector_push(graph->arena, &watched_function(p)->loops, kept);
        p->blocks[loop.head].runs_copied = !counts_anything(p->state->options);
    }
}

/* ---- the copy ---- */

/* Writes a backward jump, MNEMONIC, along EDGE. Its exit for a closed copy is appended to
 * OUT_OF_LINE. */
static void write_back(struct planner *p, struct loop_copy *loop, const struct edge *edge,
                       struct span mnemonic, struct buffer *out_of_line) {
    uint32_t jump = loop->jumps++, target = edge->target - 1;
    write_loop_jump(&p->far_stubs, &loop->text, mnemonic, jump, target);
    write_loop_way_out(out_of_line, &loop->text, jump, target);
    write_loop_row(site_rows(p, block_at(p, loop->head)->fragment), &loop->text, jump, target);
}

/* Writes the block's jump, MNEMONIC, along EDGE. */
static void write_jump_along(struct planner *p, struct loop_copy *loop, uint32_t index,
                             struct span mnemonic, struct buffer *out_of_line) {
    const struct edge *edge = edge_at(p, index);
    uint32_t label = loop->text.label, from = edge->source - 1, target = edge->target - 1;
    uint32_t place = place_in(loop, target);
    if (place != NONE && place <= place_in(loop, from)) {
        write_back(p, loop, edge, mnemonic, out_of_line);
    } else if (place != NONE) {
        buffer_print(&p->far_stubs, "%.*s .LQlb%u_%u; ", (int)mnemonic.length, mnemonic.start,
                     label, target);
    } else {
        const struct statement *s = statement_of(p, last_instruction(p->graph, block_at(p, from)));
        struct span operand = branch_operand(p, s);
        buffer_print(&p->far_stubs, "%.*s .LQle%u_%u; ", (int)mnemonic.length, mnemonic.start,
                     label, index);
        buffer_print(out_of_line, "; .LQle%u_%u: ", label, index);
        write_loop_release(out_of_line, loop->text.shared);
        buffer_print(out_of_line, "; jmp %.*s", (int)operand.length, operand.start);
    }
}

/* Writes the path to the code behind the block. */
static void write_way_behind(struct planner *p, struct loop_copy *loop, uint32_t index,
                             struct buffer *out_of_line) {
    static const char jump[] = "jmp";
    const struct edge *edge = edge_at(p, index);
    uint32_t from = edge->source - 1, place = place_in(loop, edge->target - 1);
    if (place == NONE) {
        write_loop_release(&p->far_stubs, loop->text.shared);
        buffer_print(&p->far_stubs, "; jmp .LQlk%u_%u; ", loop->text.label, from);
    } else if (place != place_in(loop, from) + 1) {
        write_jump_along(p, loop, index, (struct span){jump, strlen(jump)}, out_of_line);
    }
}

static void write_block(struct planner *p, struct loop_copy *loop, uint32_t index,
                        const struct graph_instruction **before, struct buffer *out_of_line) {
    const struct basic_block *block = block_at(p, index);
    buffer_print(&p->far_stubs, ".LQlb%u_%u: ", loop->text.label, index);
    if (index == loop->head)
        buffer_print(&p->far_stubs, ".LQlu%u: ", loop->text.label);
    for (uint32_t i = 0; i < block->count; i++) {
        const struct graph_instruction *instruction =
            &p->graph->instructions.data[block->first + i];
        write_changes(p, &p->far_stubs, *before, instruction);
        if (instruction->decoded->class == CLASS_PLAIN)
            write_instruction(p, &p->far_stubs, instruction);
        *before = instruction;
    }
    for (size_t i = 0; i < block->out.count; i++)
        if (jumps(edge_at(p, block->out.data[i])))
            write_jump_along(p, loop, block->out.data[i],
                             name_of_jump(p, last_instruction(p->graph, block)), out_of_line);
    for (size_t i = 0; i < block->out.count; i++)
        if (!jumps(edge_at(p, block->out.data[i])))
            write_way_behind(p, loop, block->out.data[i], out_of_line);
}

static void write_copy(struct planner *p, struct loop_copy *loop) {
    struct buffer out_of_line = {0};
    const struct graph_instruction *before = NULL;
    buffer_text(&p->far_stubs, "; ");
    write_counted_line(p, &p->far_stubs, first_instruction(p, loop->head));
    enter_frame(p, &loop->text.frame);
    if (loop->apart) {
        write_loop_choice(&p->far_stubs, &loop->text, asks_where(loop));
        if (asks_where(loop))
            buffer_text(&p->far_stubs, "; ");
        else
            buffer_print(&p->far_stubs, "; jmp .LQlc%u_%u; ", loop->text.label, loop->head);
    }
    if (asks_where(loop))
        write_ranges(p, loop);
    buffer_text(&p->far_stubs, ".p2align 6; "); /* alignment to a cache line: the padding is never
                                                 * executed */
    for (uint32_t i = 0; i < loop->blocks.count; i++)
        write_block(p, loop, loop->blocks.data[i], &before, &out_of_line);
    p->far_stubs.count -=
        strlen("; "); /* each piece ends with it, and the next one begins with it */
    write_loop_refusal(&p->far_stubs, &loop->text);
    buffer_add(&p->far_stubs, out_of_line.data, out_of_line.count);
    buffer_release(&out_of_line);
    p->copied = true;
    watched_unit(p->state)->copied = true;
}

/* Builds that count anything have the table of loops, but no copies. */
static struct loop_copy *copy_of(const struct planner *p, uint32_t index) {
    const struct watched_function *function = watched_function(p);
    for (size_t i = 0; i < function->loops.count && !counts_anything(p->state->options); i++)
        if (function->loops.data[i]->head == index)
            return function->loops.data[i];
    return NULL;
}

void insert_loop_copy(struct planner *p, uint32_t index) {
    struct loop_copy *loop = copy_of(p, index);
    if (loop)
        write_copy(p, loop);
}

enum quipu_check_kind kind_of_check(const struct planner *p, uint32_t index,
                                    const struct access *store) {
    enum quipu_check_kind kind = QUIPU_CHECK_ALWAYS;
    const struct watched_function *function = watched_function(p);
    for (size_t i = 0; i < function->loops.count; i++) {
        const struct loop_copy *loop = function->loops.data[i];
        if (place_in(loop, index) == NONE)
            continue;
        if (loop->has_ranges)
            return store->registers & loop->written ? QUIPU_CHECK_MONOTONIC : QUIPU_CHECK_INVARIANT;
        kind = QUIPU_CHECK_UNARMED;
    }
    return kind;
}

/* count.c: exact counts of every block and edge.
 *
 * Weinberger 1984 (counting code between compiler and assembler), on the chords of a spanning tree
 * (Ball 1994).  A counter is one increment in a thread's own cells, through a base register that
 * holds the cells' address: with gcc %r11, which -ffixed-r11 keeps free.
 *
 * The base register is loaded where it is lost and a use may follow: at entries, landing pads and
 * behind calls.  A forward analysis then tells at which uses it holds on every path; a use where it
 * does not loads it for itself.
 *
 * requires: place_counters, find_liveness
 * maintains: registers and flags that live, the red zone, alignment, unwinding at every instruction
 * breaks: distances between labels (short jumps are the assembler's to lengthen; loop and jrcxz,
 *         which cannot be, get a jump behind them) */
#include "pass/pass.h"

#include "asm/frames.h"
#include "asm/lex.h"
#include "x86/sequence.h"

#include <string.h>

static const uint32_t LIVE_FLAGS = LIVE(0, FLAGS_ALL);
static const uint32_t LIVE_FLAGS_BUT_CARRY = LIVE(0, FLAGS_ALL & ~FLAG_CARRY);

/* What is planned for one block. */
struct block_plan {
    uint32_t top;      /* first instruction that code may stand in front of */
    uint32_t slot;     /* instruction that its counter stands in front of */
    bool killed_above; /* the base register is written above the slot */
    bool killed_below; /* or from there on */
    bool needed;       /* a use may follow from the top without a loss before */
    bool load_at_top;  /* entered from outside and needed */
    bool holds_at_top; /* the base holds at the top, on every path */
    bool holds_at_end; /* and behind the last instruction, jumps only */
};

struct planner {
    struct pass_state *state;
    const struct graph *graph;
    struct code_context context;
    struct buffer stubs;
    struct block_plan *blocks;
    bool *load_on_edge; /* by edge: calls whose return needs the base again */
    struct placed_block *placed;
    uint32_t *first_label; /* by fragment */
    frame_rows rows;
    uint32_t *row_of;
    int base;
};

/* ---- places ---- */

static const struct statement *statement_of(const struct planner *p,
                                            const struct graph_instruction *instruction) {
    return &p->graph->unit->statements.data[instruction->statement];
}

static bool contains(const struct planner *p, const struct graph_instruction *instruction,
                     const char *text) {
    const struct statement *s = statement_of(p, instruction);
    return memmem(p->graph->unit->text + s->start, s->end - s->start, text, strlen(text)) != NULL;
}

/* Code must not stand before endbr64, where indirect branches land, nor between the address and the
 * call of a thread-local access, which linkers rewrite as one. */
static bool is_place(const struct planner *p, const struct basic_block *block, uint32_t index) {
    const struct graph_instruction *first = &p->graph->instructions.data[block->first];
    if (index == 0)
        return !contains(p, first, "endbr");
    return !contains(p, &first[index - 1], "@tls") && !contains(p, &first[index - 1], "@TLS");
}

/* A block that ends in a plain instruction takes code behind it only on its edge. */
static bool next_place(const struct planner *p, const struct basic_block *block, uint32_t *index) {
    for (uint32_t i = *index; i < block->count; i++)
        if (is_place(p, block, i)) {
            *index = i;
            return true;
        }
    return false;
}

static bool writes_base(const struct planner *p, const struct graph_instruction *instruction) {
    return instruction->decoded->registers_written >> p->base & 1;
}

static bool loses_base(const struct planner *p, const struct graph_instruction *instruction) {
    uint8_t class = instruction->decoded->class;
    return writes_base(p, instruction) || class == CLASS_CALL || class == CLASS_CALL_INDIRECT ||
           class == CLASS_SYSTEM;
}

/* The first place at which flags are dead and the base can be had; else the first with dead flags;
 * else the first. */
static uint32_t choose_slot(const struct planner *p, const struct basic_block *block) {
    uint32_t first = 0, best = NONE, second = NONE;
    if (!next_place(p, block, &first))
        return NONE;
    for (uint32_t i = first; i < block->count && next_place(p, block, &i); i++) {
        uint32_t live = live_before(p->graph, block, i);
        bool quiet = !(live & LIVE_FLAGS_BUT_CARRY);
        if (quiet && second == NONE)
            second = i;
        if (quiet && !(live >> p->base & 1)) {
            best = i;
            break;
        }
    }
    return best != NONE ? best : second != NONE ? second : first;
}

/* ---- the base register ---- */

/* How much of the function's time REGISTER is somebody else's. */
static double base_cost(const struct planner *p, int candidate) {
    const struct graph *graph = p->graph;
    double cost = 0;
    for (size_t i = 0; i < graph->blocks.count; i++) {
        const struct basic_block *block = &graph->blocks.data[i];
        bool taken = ((block->live_in | block->live_out) >> candidate & 1);
        for (uint32_t n = 0; n < block->count && !taken; n++)
            taken =
                graph->instructions.data[block->first + n].decoded->registers_written >> candidate &
                1;
        cost += taken ? block->frequency : 0;
    }
    return cost;
}

static int choose_base(const struct planner *p) {
    int best = base_candidates[0];
    double best_cost = base_cost(p, best);
    for (int i = 1; i < BASE_CANDIDATES && best_cost > 0; i++) {
        double cost = base_cost(p, base_candidates[i]);
        if (cost < best_cost) {
            best = base_candidates[i];
            best_cost = cost;
        }
    }
    return best;
}

static void plan_block(struct planner *p, uint32_t index) {
    const struct graph *graph = p->graph;
    const struct basic_block *block = &graph->blocks.data[index];
    struct block_plan *plan = &p->blocks[index];
    if (block->padding)
        return;
    uint32_t top = 0;
    plan->top = next_place(p, block, &top) ? top : block->count;
    plan->slot = block->cell ? choose_slot(p, block) : plan->top;
    if (plan->slot == NONE)
        plan->slot = plan->top;
    for (uint32_t i = 0; i < block->count; i++)
        if (loses_base(p, &graph->instructions.data[block->first + i])) {
            if (i < plan->slot)
                plan->killed_above = true;
            else
                plan->killed_below = true;
        }
}

/* Whether a use may follow behind the edge without a loss before it. */
static bool needed_behind(const struct planner *p, const struct edge *edge) {
    const struct graph *graph = p->graph;
    if (edge->cell)
        return true;
    if (is_block(graph, edge->target))
        return p->blocks[edge->target - 1].needed;
    if (edge->target == 0)
        return false;
    for (size_t i = 0; i < graph->edges.count; i++) { /* a hub */
        const struct edge *next = &graph->edges.data[i];
        if (next->source == edge->target && is_block(graph, next->target) &&
            p->blocks[next->target - 1].needed)
            return true;
    }
    return false;
}

static bool find_need(const struct planner *p, uint32_t index) {
    const struct graph *graph = p->graph;
    const struct basic_block *block = &graph->blocks.data[index];
    const struct block_plan *plan = &p->blocks[index];
    if (plan->killed_above)
        return false;
    if (block->cell)
        return true;
    if (plan->killed_below)
        return false;
    for (size_t i = 0; i < block->out.count; i++)
        if (needed_behind(p, &graph->edges.data[block->out.data[i]]))
            return true;
    return false;
}

static void find_needs(struct planner *p) {
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = (uint32_t)p->graph->blocks.count; i-- > 0;)
            if (!p->blocks[i].needed && find_need(p, i))
                p->blocks[i].needed = changed = true;
    }
}

/* A load needs the base and all flags. */
static bool can_load(const struct planner *p, uint32_t live) {
    return !(live >> p->base & 1) && !(live & LIVE_FLAGS);
}

static void place_loads(struct planner *p) {
    const struct graph *graph = p->graph;
    for (size_t i = 0; i < graph->edges.count; i++) {
        const struct edge *edge = &graph->edges.data[i];
        if (!is_block(graph, edge->target))
            continue;
        const struct basic_block *target = &graph->blocks.data[edge->target - 1];
        struct block_plan *plan = &p->blocks[edge->target - 1];
        if (edge->source == 0 && plan->needed && plan->top < target->count &&
            plan->top <= plan->slot && can_load(p, live_before(graph, target, plan->top)))
            plan->load_at_top = true;
        if (edge->kind == QUIPU_EDGE_CALL && needed_behind(p, edge) && can_load(p, target->live_in))
            p->load_on_edge[i] = true;
    }
}

static bool holds_on_edge(const struct planner *p, uint32_t index) {
    const struct edge *edge = &p->graph->edges.data[index];
    if (edge->kind == QUIPU_EDGE_CALL)
        return p->load_on_edge[index];
    if (is_block(p->graph, edge->source))
        return p->blocks[edge->source - 1].holds_at_end;
    if (edge->source == 0)
        return false; /* an entry loads at the top, behind its edges */
    for (size_t i = 0; i < p->graph->edges.count; i++)
        if (p->graph->edges.data[i].target == edge->source && !holds_on_edge(p, (uint32_t)i))
            return false;
    return true;
}

/* Whether the counter's own code leaves the base loaded where it did not hold. */
static bool slot_loads(const struct planner *p, uint32_t index) {
    const struct basic_block *block = &p->graph->blocks.data[index];
    return block->cell && can_load(p, live_before(p->graph, block, p->blocks[index].slot));
}

static void find_holding(struct planner *p) {
    const struct graph *graph = p->graph;
    for (size_t i = 0; i < graph->blocks.count; i++)
        p->blocks[i].holds_at_top = p->blocks[i].holds_at_end = true;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < graph->blocks.count; i++) {
            struct block_plan *plan = &p->blocks[i];
            const struct basic_block *block = &graph->blocks.data[i];
            bool holds = true;
            for (size_t e = 0; e < block->in.count; e++)
                holds = holds && holds_on_edge(p, block->in.data[e]);
            bool above = (holds || plan->load_at_top) && !plan->killed_above;
            bool end = (above || slot_loads(p, i)) && !plan->killed_below;
            changed |= holds != plan->holds_at_top || end != plan->holds_at_end;
            plan->holds_at_top = holds;
            plan->holds_at_end = end;
        }
    }
}

/* ---- text ---- */

static struct frame_row frame_at(const struct planner *p,
                                 const struct graph_instruction *instruction) {
    return p->rows.data[p->row_of[instruction->first_statement]];
}

/* Inserted text speaks AT&T, whatever stands around it. */
static const char *finished(const struct planner *p, const struct statement *around,
                            struct buffer *text) {
    struct arena *arena = &p->state->unit->arena;
    const char *result =
        around->intel
            ? arena_print(arena, ".att_syntax prefix; %s; .intel_syntax noprefix", text->data)
            : arena_copy(arena, text->data, text->count);
    buffer_release(text);
    return result;
}

static void insert_at(struct planner *p, const struct graph_instruction *instruction,
                      struct buffer *text) {
    const struct statement *s = &p->graph->unit->statements.data[instruction->first_statement];
    insert_before(&p->state->edits, s, finished(p, s, text));
}

static void insert_after(struct planner *p, const struct graph_instruction *instruction,
                         struct buffer *text) {
    const struct statement *s = statement_of(p, instruction);
    insert_behind(&p->state->edits, s, finished(p, s, text));
}

static struct quiet quiet_at(const struct planner *p, uint32_t live, bool holds,
                             struct frame_row frame) {
    return (struct quiet){
        .base = p->base,
        .base_holds = holds,
        .base_free = !(live >> p->base & 1),
        .free = (uint16_t)(~live & REGISTERS_ALL & ~(1u << p->base)),
        .flags_free = !(live & LIVE_FLAGS),
        .flags_but_carry = !(live & LIVE_FLAGS_BUT_CARRY),
        .frame = frame,
    };
}

/* Puts a label in front of instruction INDEX of the block, and says so in the block's splits. */
static void split_block(struct planner *p, uint32_t block, uint32_t index) {
    struct placed_block *placed = &p->placed[block];
    if (index == 0)
        return;
    for (size_t i = 0; i < placed->splits.count; i++)
        if (placed->splits.data[i] == index)
            return;
    vector_push(p->graph->arena, &placed->splits, index);
}

static void insert_block_code(struct planner *p, uint32_t index) {
    const struct graph *graph = p->graph;
    const struct basic_block *block = &graph->blocks.data[index];
    const struct block_plan *plan = &p->blocks[index];
    const struct graph_instruction *first = &graph->instructions.data[block->first];
    struct buffer text = {0};
    if (plan->load_at_top) {
        struct frame_row frame = frame_at(p, &first[plan->top]);
        write_load(&text, &p->context, p->base, &frame);
        split_block(p, index, plan->top);
        insert_at(p, &first[plan->top], &text);
    }
    if (block->cell) {
        bool holds = (plan->holds_at_top || plan->load_at_top) && !plan->killed_above;
        struct quiet quiet = quiet_at(p, live_before(graph, block, plan->slot), holds,
                                      frame_at(p, &first[plan->slot]));
        write_increment(&text, &p->context, block->cell, &quiet);
        split_block(p, index, plan->slot);
        insert_at(p, &first[plan->slot], &text);
    }
}

/* Finds the symbol in the text of a direct branch. */
static struct span branch_operand(const struct planner *p, const struct statement *statement) {
    const struct unit *unit = p->graph->unit;
    const struct symbol *symbol = &unit->symbols.data[statement->symbol];
    const char *start = unit->text + statement->start, *end = unit->text + statement->end;
    if (symbol->length > 1 && symbol->name[1] == '\001') { /* a numeric label: 1b, 1f */
        const char *c = end;
        while (c > start && (c[-1] == ' ' || c[-1] == '\t'))
            c--;
        return (struct span){c - 2, 2};
    }
    /* the last occurrence: mnemonics come first, and a suffix such as @PLT does not repeat it */
    const char *found = start;
    for (const char *c = start; c + symbol->length <= end; c++)
        if (memcmp(c, symbol->name, symbol->length) == 0)
            found = c;
    return (struct span){found, symbol->length};
}

/* Code on a taken edge: out of line, and the branch goes there. */
static void insert_taken_code(struct planner *p, const struct graph_instruction *branch,
                              struct buffer *code) {
    const struct statement *s = statement_of(p, branch);
    const struct unit *unit = p->graph->unit;
    const char *end = unit->text + s->end;
    struct span operand = branch_operand(p, s);
    size_t whole = (size_t)(end - operand.start); /* with @PLT */
    uint32_t label = ++p->state->labels;
    struct frame_row frame = frame_at(p, branch);
    buffer_print(&p->stubs, "; .LQt%u: ", label);
    write_frame(&p->stubs, &frame, 0);
    buffer_print(&p->stubs, "%s; jmp %.*s", code->data, (int)whole, operand.start);
    write_frame_end(&p->stubs, &frame);
    replace_text(&p->state->edits, (uint32_t)(operand.start - unit->text), (uint32_t)whole,
                 arena_print(&p->state->unit->arena, ".LQt%u", label));
    buffer_release(code);
}

/* loop and jrcxz reach 128 bytes: they get a jump close behind them that reaches further. */
static void lengthen_branch(struct planner *p, const struct graph_instruction *branch,
                            struct buffer *code) {
    const struct statement *s = statement_of(p, branch);
    const struct unit *unit = p->graph->unit;
    struct span operand = branch_operand(p, s);
    size_t whole = (size_t)(unit->text + s->end - operand.start);
    uint32_t label = ++p->state->labels;
    struct buffer text = {0};
    buffer_print(&text, "jmp .LQm%u; .LQn%u: %s%sjmp %.*s; .LQm%u:", label, label,
                 code->count ? code->data : "", code->count ? "; " : "", (int)whole, operand.start,
                 label);
    replace_text(&p->state->edits, (uint32_t)(operand.start - unit->text), (uint32_t)whole,
                 arena_print(&p->state->unit->arena, ".LQn%u", label));
    insert_after(p, branch, &text);
    buffer_release(code);
}

static void insert_edge_code(struct planner *p, uint32_t index) {
    const struct graph *graph = p->graph;
    const struct edge *edge = &graph->edges.data[index];
    if (!is_block(graph, edge->source))
        return;
    const struct basic_block *source = &graph->blocks.data[edge->source - 1];
    const struct graph_instruction *last = last_instruction(graph, source);
    struct buffer text = {0};
    if (p->load_on_edge[index]) {
        struct frame_row frame = frame_at(p, last);
        write_load(&text, &p->context, p->base, &frame);
    }
    if (edge->cell) {
        uint32_t live = is_block(graph, edge->target) ? graph->blocks.data[edge->target - 1].live_in
                                                      : LIVE(REGISTERS_ALL, FLAGS_ALL);
        bool holds = edge->kind == QUIPU_EDGE_CALL ? p->load_on_edge[index]
                                                   : p->blocks[edge->source - 1].holds_at_end;
        struct quiet quiet = quiet_at(p, live, holds, frame_at(p, last));
        if (text.count)
            buffer_text(&text, " ");
        write_increment(&text, &p->context, edge->cell, &quiet);
    }
    if (edge->kind == QUIPU_EDGE_TAKEN && last->decoded->class == CLASS_CONDITIONAL_NEAR)
        lengthen_branch(p, last, &text);
    else if (!text.count)
        return;
    else if (edge->kind == QUIPU_EDGE_TAKEN)
        insert_taken_code(p, last, &text);
    else
        insert_after(p, last, &text);
}

/* ---- alignment ---- */

enum {
    FETCH_LINE = 64,
    INCREMENT_SIZE = 4
};

/* Bytes of the block with what is inserted into it, about. */
static uint32_t grown_size(const struct planner *p, uint32_t index) {
    const struct basic_block *block = &p->graph->blocks.data[index];
    uint32_t size = block->size + (block->cell ? INCREMENT_SIZE : 0);
    for (size_t i = 0; i < block->out.count; i++) {
        const struct edge *edge = &p->graph->edges.data[block->out.data[i]];
        size += edge->cell && edge->kind != QUIPU_EDGE_TAKEN ? INCREMENT_SIZE : 0;
    }
    return size;
}

static bool goes_to(const struct planner *p, uint32_t from, uint32_t to) {
    const struct basic_block *block = &p->graph->blocks.data[from];
    for (size_t i = 0; i < block->out.count; i++)
        if (p->graph->edges.data[block->out.data[i]].target == to + 1)
            return true;
    return false;
}

/* Bytes that run in a row from the block's top: to the jump back to it, or to the first block that
 * does not go on behind itself; the block alone where that is more than a line. */
static uint32_t run_size(const struct planner *p, uint32_t index) {
    const struct graph *graph = p->graph;
    uint32_t size = 0;
    for (uint32_t i = index; i < graph->blocks.count; i++) {
        size += grown_size(p, i);
        if (size > FETCH_LINE)
            return grown_size(p, index);
        if (goes_to(p, i, index) || !goes_to(p, i, i + 1))
            return size;
    }
    return size;
}

/* The compiler aligned the code as it was.  A loop that now crosses a line of fetched code would
 * run slower than counting makes it (an interpreter's dispatch: 1.7 times), so where the compiler
 * aligns in a loop, code of less than a line is kept in one. */
static void keep_in_line(struct planner *p, uint32_t index) {
    const struct graph *graph = p->graph;
    const struct basic_block *block = &graph->blocks.data[index];
    if (block->aligned_by == NONE || block->padding || !block->loop_depth)
        return;
    uint32_t size = run_size(p, index);
    if (size < 2 || size > FETCH_LINE)
        return;
    insert_behind(&p->state->edits, &graph->unit->statements.data[block->aligned_by],
                  arena_print(&p->state->unit->arena, ".p2align 6,,%u", size - 1));
}

/* The label of the block, and of each place where inserted code divides it. */
static void label_blocks(struct planner *p) {
    const struct graph *graph = p->graph;
    for (size_t i = 0; i < graph->blocks.count; i++) {
        const struct basic_block *block = &graph->blocks.data[i];
        struct placed_block *placed = &p->placed[i];
        if (block->padding)
            continue;
        for (size_t s = 0; s <= placed->splits.count; s++) {
            uint32_t at = s ? placed->splits.data[s - 1] : 0, label = ++p->state->labels;
            struct buffer text = {0};
            if (s)
                vector_push(graph->arena, &placed->split_labels, label);
            else
                placed->label = label;
            const struct graph_instruction *instruction =
                &graph->instructions.data[block->first + at];
            buffer_print(&text, ".LQb%u:", label);
            const struct statement *around =
                &graph->unit->statements.data[instruction->first_statement];
            insert_before(&p->state->edits, around,
                          arena_copy(&p->state->unit->arena, text.data, text.count));
            buffer_release(&text);
        }
    }
}

/* What stands out of line goes behind the last instruction of the fragment that needs it. */
static void insert_stubs(struct planner *p, uint32_t last_block) {
    if (!p->stubs.count)
        return;
    const struct graph *graph = p->graph;
    while (graph->blocks.data[last_block].padding)
        last_block--;
    const struct graph_instruction *last = last_instruction(graph, &graph->blocks.data[last_block]);
    uint8_t class = last->decoded->class;
    bool goes_on = class != CLASS_JUMP && class != CLASS_JUMP_INDIRECT && class != CLASS_RETURN &&
                   class != CLASS_STOP;
    uint32_t label = ++p->state->labels;
    struct buffer text = {0};
    if (goes_on)
        buffer_print(&text, "jmp .LQe%u", label);
    buffer_add(&text, p->stubs.data + (goes_on ? 0 : 2), p->stubs.count - (goes_on ? 0 : 2));
    if (goes_on)
        buffer_print(&text, "; .LQe%u:", label);
    insert_after(p, last, &text);
    p->stubs.count = 0;
}

static void label_fragments(struct planner *p, uint32_t number) {
    const struct unit *unit = p->graph->unit;
    const struct asm_function *function = p->graph->function;
    for (size_t f = 0; f < function->fragments.count; f++) {
        const struct fragment *fragment = &function->fragments.data[f];
        const struct statement *s =
            &unit->statements
                 .data[unit->sections.data[fragment->section].statements.data[fragment->first]];
        insert_before(&p->state->edits, s,
                      arena_print(&p->state->unit->arena, ".LQf%u_%zu:", number, f));
    }
}

static void make_plan(struct planner *p) {
    const struct graph *graph = p->graph;
    struct arena *arena = graph->arena;
    p->blocks = ARENA_ARRAY(arena, struct block_plan, graph->blocks.count);
    p->placed = ARENA_ARRAY(arena, struct placed_block, graph->blocks.count);
    p->load_on_edge = ARENA_ARRAY(arena, bool, graph->edges.count);
    p->row_of = graph->unit->row_of;
    for (size_t f = 0; f < graph->function->fragments.count; f++)
        find_frames(graph->unit, &graph->function->fragments.data[f], arena, &p->rows, p->row_of);
    p->base = choose_base(p);
    for (uint32_t i = 0; i < graph->blocks.count; i++)
        plan_block(p, i);
    find_needs(p);
    place_loads(p);
    find_holding(p);
}

void insert_counts(struct pass_state *state, const struct graph *graph, uint32_t number) {
    struct planner planner = {.state = state, .graph = graph}, *p = &planner;
    p->context = (struct code_context){.shared = state->options->shared,
                                       .cells = number,
                                       .labels = &state->labels,
                                       .stubs = &p->stubs};
    make_plan(p);
    label_fragments(p, number);
    for (uint32_t i = 0; i < graph->blocks.count; i++) {
        const struct basic_block *block = &graph->blocks.data[i];
        keep_in_line(p, i);
        if (!block->padding)
            insert_block_code(p, i);
        for (size_t e = 0; e < block->out.count; e++)
            insert_edge_code(p, block->out.data[e]);
        bool last =
            i + 1 == graph->blocks.count || graph->blocks.data[i + 1].fragment != block->fragment;
        if (last)
            insert_stubs(p, i);
    }
    label_blocks(p);
    write_function_note(state, graph, p->placed, number);
    buffer_release(&p->stubs);
}

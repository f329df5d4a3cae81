/* graph.c: builds basic blocks and edges from statements; see graph.h.
 *
 * A call ends its block, since it may never return (exit, longjmp, throw, a thread that ends). So a
 * block with a call has an edge to the outside, and one to the block behind it. The edge to the
 * outside is missing if the callee always returns (callees.c). Landing pads and labels whose
 * address escapes are entered from the outside. Without these edges the flow equations are wrong.
 *
 * The padding before an aligned label is a block of its own. It runs when the block above falls
 * through, and only then.
 *
 * Not perfect: several jump tables in one function share one hub. Counts stay exact, but it is
 * unknown which of two switches jumped to a shared target.
 *
 * An indirect jump from within a frame leads to a label of the function. Before a jump to another
 * function, the stack pointer has the value that it had at the begin, according to the .cfi_
 * directives. This does not hold in a function that sets the stack pointer otherwise:
 * __builtin_longjmp, and a goto out of a nested function.
 *
 * requires: measure_unit   makes: instructions, blocks, edges, rows, hub_count */
#include "flow/graph.h"

#include "asm/lex.h"
#include "format/notes.h"
#include "x86/coded.h"
#include "x86/measure.h"

#include <string.h>

struct builder {
    struct graph *graph;
    const struct unit *unit;
    struct graph_index *index;
    uint32_t fragment;      /* the current one */
    bool open;              /* further instructions belong to the last block */
    bool parted;            /* only an instruction that repeats has closed the last block */
    uint32_t alignment;     /* the directive since the last instruction, or NONE */
    uint32_t pinned;        /* the first pinned label since the last instruction, or NONE */
    bool passed_by;         /* control enters at the pinned label, or at a label behind it */
    bool left_unseen;       /* a label since the last instruction is left unseen ... */
    bool switched;          /* ... or is switched */
    bool behind_call;       /* only labels since the last instruction, which is a call */
    uint32_t passed;        /* the last debug label since then (is_passed), or NONE */
    uint32_t passed_before; /* the one before it, or NONE */
    VECTOR(uint32_t)
    labels; /* statements of labels; label_blocks has the block that follows each */
    VECTOR(uint32_t) label_blocks;
    index_list hub_targets; /* blocks */
    bool hub_unsure;        /* a jump through the hub may leave the function */
    bool frames_end; /* every return is where no frame exists, and the stack pointer is set in no
                        other way */
};

const struct graph_instruction *last_instruction(const struct graph *graph,
                                                 const struct basic_block *block) {
    return block->count ? &graph->instructions.data[block->first + block->count - 1] : NULL;
}

bool has_plain_jump(const struct graph *graph, const struct basic_block *block) {
    const struct unit *unit = graph->unit;
    const struct statement *jump =
        &unit->statements.data[last_instruction(graph, block)->statement];
    return jump->symbol != NONE && unit->symbols.data[jump->symbol].local &&
           unit->symbols.data[jump->symbol].name[0] == '.';
}

bool is_entered_from_outside(const struct graph *graph, const struct basic_block *block) {
    for (size_t i = 0; i < block->in.count; i++)
        if (graph->edges.data[block->in.data[i]].source == 0)
            return true;
    return false;
}

/* ---- blocks ---- */

static const struct symbol *symbol_of(const struct builder *b, const struct statement *statement) {
    return &b->unit->symbols.data[statement->symbol];
}

static struct basic_block *new_block(struct builder *b, uint32_t offset) {
    struct graph *graph = b->graph;
    vector_push(graph->arena, &graph->blocks,
                ((struct basic_block){.first = (uint32_t)graph->instructions.count,
                                      .fragment = (uint8_t)b->fragment,
                                      .offset = offset,
                                      .aligned_by = NONE}));
    return &graph->blocks.data[graph->blocks.count - 1];
}

static bool is_target(const struct symbol *symbol) {
    return symbol->branch_target || symbol->address_taken || symbol->outside_entry ||
           symbol->function || symbol->pinned;
}

static bool ends_block(const struct decoded *decoded) {
    return decoded->class != CLASS_PLAIN;
}

/* Whether it is a compiler's label that only debug information names. */
static bool is_passed(const struct symbol *symbol) {
    return symbol->local && symbol->name[0] == '.' && !is_target(symbol) && !symbol->landing_pad &&
           !symbol->returned_to && !symbol->switched && !symbol->aliased;
}

/* Labels of debug information mark where a call returns, and which values are lost then. So code
 * after the call is inserted behind these labels. If AT_END is set, no statement of the fragment
 * follows: the last label is the fragment's end, and the code is inserted before it. */
static void leave_call(struct builder *b, bool at_end) {
    uint32_t last = at_end ? b->passed_before : b->passed;
    if (b->behind_call && last != NONE)
        b->graph->instructions.data[b->graph->instructions.count - 1].end = last;
    b->behind_call = false;
}

static void add_label(struct builder *b, uint32_t statement) {
    struct arena *arena = b->graph->arena;
    const struct symbol *symbol = symbol_of(b, &b->unit->statements.data[statement]);
    if (is_target(symbol))
        b->open = b->parted = false;
    if (is_passed(symbol)) {
        b->passed_before = b->passed;
        b->passed = statement;
    } else {
        leave_call(b, false);
    }
    if (symbol->returned_to && b->graph->instructions.count)
        b->graph->instructions.data[b->graph->instructions.count - 1].end = statement;
    if (symbol->pinned && b->pinned == NONE)
        b->pinned = statement;
    b->passed_by |= b->pinned != NONE && (symbol->branch_target || symbol->address_taken ||
                                          symbol->outside_entry || symbol->function);
    b->left_unseen |= symbol->left_unseen;
    b->switched |= symbol->switched;
    vector_push(arena, &b->labels, statement);
    vector_push(arena, &b->label_blocks, NONE);
}

/* Labels without a block belong to BLOCK, which follows them. */
static void settle_labels(struct builder *b, uint32_t block) {
    for (size_t i = b->label_blocks.count; i-- > 0 && b->label_blocks.data[i] == NONE;) {
        b->label_blocks.data[i] = block;
        b->index->block_of[b->labels.data[i]] = block;
    }
}

static void unpin(struct builder *b) {
    b->pinned = NONE;
    b->passed_by = b->left_unseen = b->switched = false;
}

static void add_padding(struct builder *b, uint32_t statement, uint32_t base) {
    const struct machine_code *code = b->unit->code;
    b->open = b->parted = false;
    b->alignment = statement;
    unpin(b);
    if (!code->padding[statement])
        return;
    struct basic_block *block = new_block(b, code->offset[statement] - base);
    block->padding = true;
    block->aligned_by = statement;
    block->size = code->padding[statement];
    block->padding_bytes = code->bytes[statement];
    settle_labels(b, (uint32_t)b->graph->blocks.count - 1);
}

/* Adds a gap: a block of no bytes before an instruction that may fault. From there control
 * continues behind the instruction, or at an unknown address. The gap counts how often control
 * arrives, and the instruction is counted where control continues behind it. */
static void add_gap(struct builder *b, uint32_t offset) {
    struct basic_block *block = new_block(b, offset);
    block->padding = block->gap = true;
    block->aligned_by = b->pinned;
    block->closed = b->passed_by;
    settle_labels(b, (uint32_t)b->graph->blocks.count - 1);
    b->open = b->parted = false;
    b->passed_by = true;
}

static void add_instruction(struct builder *b, uint32_t statement, uint32_t first_statement,
                            uint32_t base) {
    struct graph *graph = b->graph;
    const struct machine_code *code = b->unit->code;
    const struct decoded *decoded = &code->decoded[statement];
    if (b->left_unseen)
        add_gap(b, code->offset[statement] - base);
    bool alone = b->graph->turns && decoded->turns, continues = b->parted || (b->open && alone);
    if (!b->open || alone)
        new_block(b, code->offset[statement] - base)->continues = continues;
    struct basic_block *block = &graph->blocks.data[graph->blocks.count - 1];
    if (b->alignment != NONE)
        block->aligned_by = b->alignment;
    b->alignment = NONE;
    uint32_t place = b->pinned == NONE ? first_statement : b->pinned;
    bool closed = b->unit->statements.data[first_statement].kept || is_landing_mark(decoded) ||
                  (b->pinned != NONE && b->passed_by);
    block->closed += closed && block->closed == block->count;
    block->count++;
    block->size += decoded->size;
    vector_push(
        graph->arena, &graph->instructions,
        ((struct graph_instruction){statement, first_statement, place, statement, decoded, false}));
    settle_labels(b, (uint32_t)graph->blocks.count - 1);
    block->switched = b->switched;
    b->behind_call = b->graph->function->compiled && is_call_class(decoded->class);
    b->passed = b->passed_before = NONE;
    b->open = !ends_block(decoded) && !alone && !b->switched;
    b->parted = alone;
    unpin(b);
}

static void add_fragment(struct builder *b, const struct fragment *fragment) {
    const struct unit *unit = b->unit;
    const uint32_t *list = unit->sections.data[fragment->section].statements.data;
    uint32_t base = unit->code->offset[list[fragment->first]], prefix = NONE;
    b->open = b->parted = b->behind_call = false;
    b->alignment = NONE;
    unpin(b);
    for (uint32_t s = fragment->first; s < fragment->last; s++) {
        const struct statement *statement = &unit->statements.data[list[s]];
        if (statement->kind != STATEMENT_LABEL)
            leave_call(b, false);
        if (statement->kind == STATEMENT_LABEL) {
            add_label(b, list[s]);
        } else if (statement->aligns) {
            add_padding(b, list[s], base);
        } else if (statement->kind == STATEMENT_INSTRUCTION && statement->prefix) {
            if (prefix == NONE)
                prefix = list[s];
        } else if (statement->kind == STATEMENT_INSTRUCTION) {
            add_instruction(b, list[s], prefix == NONE ? list[s] : prefix, base);
            prefix = NONE;
        }
    }
    leave_call(b, true);
}

/* Returns the block that the symbol's label begins, as an end of edges. 0: the label is outside the
 * function. */
static uint32_t target_end(const struct builder *b, const struct symbol *symbol) {
    const struct unit *unit = b->unit;
    if (symbol->statement == NONE || symbol->global ||
        unit->function_of[symbol->statement] != b->graph->function - unit->functions.data)
        return 0;
    uint32_t block = b->index->block_of[symbol->statement];
    return block == NONE ? 0 : block + 1;
}

/* ---- edges ---- */

static void add_edge(struct builder *b, uint32_t source, uint32_t target,
                     enum quipu_edge_kind kind) {
    struct graph *graph = b->graph;
    uint32_t index = (uint32_t)graph->edges.count;
    vector_push(
        graph->arena, &graph->edges,
        ((struct edge){
            .source = source, .target = target, .kind = kind, .jumps = kind == QUIPU_EDGE_TAKEN}));
    if (is_block(graph, source))
        vector_push(graph->arena, &graph->blocks.data[source - 1].out, index);
    if (is_block(graph, target))
        vector_push(graph->arena, &graph->blocks.data[target - 1].in, index);
}

static void add_fall(struct builder *b, uint32_t block, enum quipu_edge_kind kind) {
    const struct graph *graph = b->graph;
    bool behind = block + 1 < graph->blocks.count &&
                  graph->blocks.data[block + 1].fragment == graph->blocks.data[block].fragment;
    if (behind)
        add_edge(b, block + 1, block + 2, kind);
    else
        add_edge(b, block + 1, 0, kind == QUIPU_EDGE_NOT_TAKEN ? kind : QUIPU_EDGE_STOP);
}

/* Whether TABLE is the name of a table of labels of this function. Its first entry decides. */
static bool is_own_table(const struct builder *b, const struct symbol *table) {
    if (table->statement == NONE)
        return false;
    const struct unit *unit = b->unit;
    uint32_t section = unit->statements.data[table->statement].section;
    for (uint32_t i = table->statement + 1; i < unit->statements.count; i++) {
        const struct statement *s = &unit->statements.data[i];
        if (s->section != section)
            return false;
        if (s->kind == STATEMENT_LABEL)
            continue;
        if (!s->data)
            return false;
        struct span text = {unit->text + s->start, s->end - s->start};
        struct cursor cursor = cursor_over(behind(text, first_word(text)));
        struct span name;
        if (!next_name(&cursor, &name))
            return false;
        uint32_t *symbol = map_find(&unit->symbol_index, name.start, name.length);
        return symbol && target_end(b, &unit->symbols.data[*symbol]);
    }
    return false;
}

/* Whether the stack pointer may have the value that it had at the function's begin. */
static bool frame_may_be_gone(const struct graph *graph,
                              const struct graph_instruction *instruction) {
    const struct frame_row *row =
        &graph->rows.data[graph->index->row_of[instruction->first_statement]];
    return !row->known || (row->by_rsp && row->offset == 8);
}

static bool frames_end(const struct graph *graph) {
    bool found = false;
    for (size_t i = 0; i < graph->instructions.count; i++)
        if (graph->instructions.data[i].decoded->switches_stack)
            return false;
    for (size_t i = 0; i < graph->blocks.count; i++) {
        const struct graph_instruction *last = last_instruction(graph, &graph->blocks.data[i]);
        if (!last || last->decoded->class != CLASS_RETURN)
            continue;
        if (!frame_may_be_gone(graph, last))
            return false;
        found = true;
    }
    return found;
}

enum jump_through {
    THROUGH_HUB,
    THROUGH_EITHER,
    THROUGH_OUTSIDE
};

/* Whether an indirect jump leads to labels of this function, to another function, or to either. */
static enum jump_through classify_indirect(const struct builder *b,
                                           const struct basic_block *block) {
    const struct graph *graph = b->graph;
    const struct unit *unit = b->unit;
    const struct graph_instruction *jump = last_instruction(graph, block);
    const struct statement *s = &unit->statements.data[jump->statement];
    struct span text = {unit->text + s->start, s->end - s->start};
    if (statement_is(unit, s, "notrack") || jump->first_statement != jump->statement)
        return THROUGH_HUB; /* gcc marks the jump of a switch so */
    struct cursor cursor = cursor_over(behind(text, first_word(text)));
    struct span name;
    while (next_name(&cursor, &name)) {
        uint32_t *symbol = map_find(&unit->symbol_index, name.start, name.length);
        if (symbol && unit->symbols.data[*symbol].statement != NONE)
            return is_own_table(b, &unit->symbols.data[*symbol]) ? THROUGH_HUB : THROUGH_OUTSIDE;
    }
    if (block->count >= 2) { /* the base of a table plus an entry */
        const struct graph_instruction *before = jump - 1;
        if (statement_is(unit, &unit->statements.data[before->statement], "addq") &&
            (before->decoded->registers_written & jump->decoded->registers_read))
            return THROUGH_HUB;
    }
    return b->frames_end && !frame_may_be_gone(graph, jump) ? THROUGH_HUB : THROUGH_EITHER;
}

static void add_indirect(struct builder *b, uint32_t block, uint32_t hub) {
    enum jump_through through = classify_indirect(b, &b->graph->blocks.data[block]);
    if (!hub || through == THROUGH_OUTSIDE) {
        add_edge(b, block + 1, 0, QUIPU_EDGE_TAIL);
        b->graph->edges.data[b->graph->edges.count - 1].stays =
            through != THROUGH_OUTSIDE && b->hub_targets.count > 0;
        return;
    }
    b->hub_unsure |= through == THROUGH_EITHER;
    add_edge(b, block + 1, hub, QUIPU_EDGE_INDIRECT);
}

static bool is_behind_gap(const struct graph *graph, uint32_t block) {
    return block > 0 && graph->blocks.data[block - 1].gap;
}

/* Adds the edges out of a block, by the class of its last instruction. */
static void add_out_edges(struct builder *b, uint32_t block, uint32_t hub) {
    const struct graph *graph = b->graph;
    const struct graph_instruction *last = last_instruction(graph, &graph->blocks.data[block]);
    if (graph->blocks.data[block].gap || graph->blocks.data[block].switched)
        add_edge(b, block + 1, 0, QUIPU_EDGE_STOP);
    if (!last) {
        add_fall(b, block, QUIPU_EDGE_FALL);
        return;
    }
    const struct statement *statement = &b->unit->statements.data[last->statement];
    uint32_t target = statement->symbol == NONE ? 0 : target_end(b, symbol_of(b, statement));
    switch ((enum instruction_class)last->decoded->class) {
    case CLASS_PLAIN:
        add_fall(b, block, QUIPU_EDGE_FALL);
        break;
    case CLASS_JUMP:
        add_edge(b, block + 1, target, target ? QUIPU_EDGE_JUMP : QUIPU_EDGE_TAIL);
        break;
    case CLASS_JUMP_INDIRECT:
        add_indirect(b, block, hub);
        break;
    case CLASS_CONDITIONAL:
    case CLASS_CONDITIONAL_NEAR:
    case CLASS_TRANSACTION:
        add_edge(b, block + 1, target, QUIPU_EDGE_TAKEN);
        add_fall(b, block, QUIPU_EDGE_NOT_TAKEN);
        break;
    case CLASS_CALL:
    case CLASS_CALL_INDIRECT:
    case CLASS_SYSTEM:
        if (graph->calls_query || !call_returns(graph, last))
            add_edge(b, block + 1, 0, QUIPU_EDGE_CALL_LOST);
        if (block + 1 < graph->blocks.count &&
            graph->blocks.data[block + 1].fragment == graph->blocks.data[block].fragment)
            add_fall(b, block, QUIPU_EDGE_CALL);
        break;
    case CLASS_RETURN:
        add_edge(b, block + 1, 0, QUIPU_EDGE_RETURN);
        break;
    case CLASS_STOP:
        if (is_behind_gap(graph, block)) /* a handler of the trap may continue behind it */
            add_fall(b, block, QUIPU_EDGE_FALL);
        else
            add_edge(b, block + 1, 0, QUIPU_EDGE_STOP);
        break;
    }
}

static bool falls(const struct graph *graph, uint32_t block) {
    return last_instruction(graph, &graph->blocks.data[block])->decoded->class == CLASS_PLAIN;
}

/* Adds the edges into blocks that are entered from the outside or through the hub. */
static void add_in_edges(struct builder *b, uint32_t hub) {
    struct graph *graph = b->graph;
    uint8_t *entered = ARENA_ARRAY(graph->arena, uint8_t, graph->blocks.count + 1);
    if (graph->blocks.count) {
        add_edge(b, 0, 1, QUIPU_EDGE_ENTRY);
        entered[0] = 1;
    }
    for (size_t i = 0; i < b->labels.count; i++) {
        const struct symbol *symbol = symbol_of(b, &b->unit->statements.data[b->labels.data[i]]);
        uint32_t block = b->label_blocks.data[i];
        if (block == NONE)
            continue;
        graph->blocks.data[block].address_taken |= symbol->address_taken && !symbol->function;
        bool outside = symbol->outside_entry || (symbol->address_taken && !hub);
        if (outside && !entered[block]) {
            add_edge(b, 0, block + 1, symbol->global ? QUIPU_EDGE_ENTRY : QUIPU_EDGE_PAD);
            entered[block] = 1;
        }
    }
    for (uint32_t i = 1; i < graph->blocks.count; i++)
        if (graph->blocks.data[i - 1].switched && !falls(graph, i - 1) && !entered[i])
            add_edge(b, 0, i + 1, QUIPU_EDGE_PAD);
    for (size_t i = 0; hub && i < b->hub_targets.count; i++)
        add_edge(b, hub, b->hub_targets.data[i] + 1, QUIPU_EDGE_INDIRECT);
}

/* Finds the targets of indirect jumps. The function itself is no target: a jump through a pointer
 * to it is a jump to a function. Returns whether the targets can have a hub. If one of them is also
 * entered from the outside, the outside serves as the hub: otherwise the arcs that cannot hold code
 * would close a cycle. */
static bool find_hub_targets(struct builder *b) {
    const struct graph *graph = b->graph;
    bool indirect = false, separate = true;
    for (size_t i = 0; i < graph->blocks.count; i++) {
        const struct graph_instruction *last = last_instruction(graph, &graph->blocks.data[i]);
        indirect |= last && last->decoded->class == CLASS_JUMP_INDIRECT;
    }
    uint8_t *seen = ARENA_ARRAY(graph->arena, uint8_t, graph->blocks.count + 1);
    for (size_t i = 0; indirect && i < b->labels.count; i++) {
        const struct symbol *symbol = symbol_of(b, &b->unit->statements.data[b->labels.data[i]]);
        uint32_t block = b->label_blocks.data[i];
        if (!symbol->address_taken || symbol->function)
            continue;
        b->hub_unsure |= block == NONE; /* the label is behind all instructions */
        if (block != NONE && !seen[block]) {
            seen[block] = 1;
            vector_push(graph->arena, &b->hub_targets, block);
        }
    }
    for (size_t i = 0; i < b->labels.count; i++) {
        const struct symbol *symbol = symbol_of(b, &b->unit->statements.data[b->labels.data[i]]);
        uint32_t block = b->label_blocks.data[i];
        if (block != NONE && seen[block] && (symbol->outside_entry || block == 0))
            separate = false;
    }
    return b->hub_targets.count && separate;
}

/* Adds an entry from the outside to each block that seems unreachable: an unknown path may lead
 * there. */
static void enter_unreached(struct builder *b) {
    const struct graph *graph = b->graph;
    for (uint32_t i = 0; i < graph->blocks.count; i++)
        if (!graph->blocks.data[i].padding && !graph->blocks.data[i].in.count)
            add_edge(b, 0, i + 1, QUIPU_EDGE_PAD);
}

/* Whether code on EDGE subtracts the iterations that its source did not make. The counter before
 * the source has counted all of them. */
static bool takes_turns_away(const struct graph *graph, const struct edge *edge) {
    const struct graph_instruction *last =
        last_instruction(graph, &graph->blocks.data[edge->source - 1]);
    return graph->turns && edge->kind == QUIPU_EDGE_FALL && last &&
           last->decoded->turns == TURNS_SOME;
}

/* Whether control may enter the block by an edge that never holds code: one from the outside or a
 * hub. */
static bool is_entered_unseen(const struct graph *graph, const struct basic_block *block) {
    for (size_t i = 0; i < block->in.count; i++)
        if (!is_block(graph, graph->edges.data[block->in.data[i]].source))
            return true;
    return false;
}

/* An edge gets code only if no block at one of its ends has the same count. Padding gets code in
 * front of it if it is entered from the outside or a hub: the code behind the padding may be
 * entered so, too, or be the outside itself, and the arcs would close a cycle. Other padding joins
 * the block that it falls into, by one arc. */
void find_countable(struct graph *graph) {
    for (size_t i = 0; i < graph->blocks.count; i++) {
        struct basic_block *block = &graph->blocks.data[i];
        if (block->padding && !block->gap)
            block->countable = is_entered_unseen(graph, block);
        else
            block->countable = block->gap ? !block->closed : block->closed < block->count;
    }
    for (size_t i = 0; i < graph->edges.count; i++) {
        struct edge *edge = &graph->edges.data[i];
        if (!is_block(graph, edge->source) || graph->blocks.data[edge->source - 1].gap)
            continue;
        const struct basic_block *source = &graph->blocks.data[edge->source - 1];
        const struct basic_block *target =
            is_block(graph, edge->target) ? &graph->blocks.data[edge->target - 1] : NULL;
        bool only_out = source->out.count == 1 && (source->countable || source->padding);
        bool only_in = target && target->in.count == 1 && target->countable && !target->padding;
        switch (edge->kind) {
        case QUIPU_EDGE_FALL:
        case QUIPU_EDGE_TAKEN:
        case QUIPU_EDGE_NOT_TAKEN:
        case QUIPU_EDGE_CALL:
            edge->countable = (!only_out && !only_in) || takes_turns_away(graph, edge);
            break;
        case QUIPU_EDGE_STOP: /* of an instruction that always faults, by code that control never
                                 reaches */
            edge->countable = is_behind_gap(graph, edge->source - 1);
            break;
        default:
            break;
        }
    }
}

static bool has_nameless_jump(const struct graph *graph) {
    for (size_t i = 0; i < graph->blocks.count; i++) {
        const struct graph_instruction *last = last_instruction(graph, &graph->blocks.data[i]);
        if (!last)
            continue;
        uint8_t class = last->decoded->class;
        bool direct = class == CLASS_JUMP || class == CLASS_CONDITIONAL ||
                      class == CLASS_CONDITIONAL_NEAR || class == CLASS_TRANSACTION;
        if (direct && graph->unit->statements.data[last->statement].symbol == NONE)
            return true;
    }
    return false;
}

struct graph_index make_graph_index(struct unit *unit) {
    size_t count = unit->statements.count;
    struct graph_index index = {.row_of = ARENA_ARRAY(&unit->arena, uint32_t, count),
                                .block_of = ARENA_ARRAY(&unit->arena, uint32_t, count)};
    memset(index.block_of, 0xff, count * sizeof *index.block_of);
    return index;
}

const char *build_graph(struct graph *graph, const struct unit *unit, struct graph_index *index,
                        const struct asm_function *function, struct arena *arena, bool calls_query,
                        bool turns) {
    *graph = (struct graph){.unit = unit,
                            .index = index,
                            .function = function,
                            .arena = arena,
                            .turns = turns,
                            .calls_query = calls_query};
    struct builder b = {.graph = graph, .unit = unit, .index = index};
    if (function->fragments.count > 200)
        return "too many pieces";
    for (; b.fragment < function->fragments.count; b.fragment++) {
        find_frames(unit, &function->fragments.data[b.fragment], arena, &graph->rows,
                    index->row_of);
        add_fragment(&b, &function->fragments.data[b.fragment]);
    }
    if (!graph->blocks.count)
        return "no instructions";
    if (has_nameless_jump(graph))
        return "jump to a place that has no label";
    graph->text_blocks = (uint32_t)graph->blocks.count;
    uint32_t hub = find_hub_targets(&b) ? (uint32_t)graph->blocks.count + 1 : 0;
    graph->hub_count = hub != 0;
    b.frames_end = hub && frames_end(graph);
    for (uint32_t i = 0; i < graph->blocks.count; i++)
        add_out_edges(&b, i, hub);
    if (hub && b.hub_unsure)
        add_edge(&b, hub, 0, QUIPU_EDGE_TAIL);
    add_in_edges(&b, hub);
    enter_unreached(&b);
    find_countable(graph);
    return closes_cycle(graph)
               ? "an instruction whose address is recorded leaves no place for a counter"
               : NULL;
}

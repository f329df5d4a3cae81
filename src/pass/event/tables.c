/* tables.c: the tables from which the count of events at any instruction is computed: Ball's query
 * increments (1994, section 3.2), for every instruction and without code. format/event.h describes
 * their format.
 *
 * The tables are loaded with the program, since signal handlers query them. The tables of each code
 * section have a section of their own, in its group, if it has one. The functions refer to that
 * section by a relocation that does nothing, so the linker drops both or none. Link order, which
 * notes use, would have the same effect. But the linker sorts such sections, and then begin.o
 * cannot mark where they begin.
 *
 * requires: anchors    breaks: nothing */
#include "pass/event/event.h"

#include "format/cells.h"
#include "format/event.h"
#include "format/notes.h"
#include "pass/record.h"

/* Returns the number of the instruction's weights in the unit's list, to which it adds them if they
 * are new. BLOCK: the block that begins with the instruction, or NULL. */
static uint32_t find_weights(struct pass_state *state, const struct graph *graph,
                             const struct graph_instruction *instruction,
                             const struct basic_block *block) {
    const struct event_set *events = &state->options->events;
    struct event_sums weights = {0};
    for (uint32_t k = 0; k < events->count; k++) {
        weights.of[k] = weigh_instruction(graph, events->kinds[k], instruction);
        if (block && events->kinds[k]->of_block)
            weights.of[k] += events->kinds[k]->of_block(block);
    }
    struct event_unit *unit = event_unit(state);
    for (uint32_t i = 0; i < unit->weights.count; i++) {
        bool same = true;
        for (uint32_t k = 0; k < events->count; k++)
            same = same && unit->weights.data[i].of[k] == weights.of[k];
        if (same)
            return i;
    }
    vector_push(&state->unit->arena, &unit->weights, weights);
    return (uint32_t)unit->weights.count - 1;
}

static bool has_turns(const struct query_anchor *anchor) {
    for (uint32_t k = 0; k < QUIPU_EVENTS; k++)
        if (anchor->sums.turns[k])
            return true;
    return false;
}

/* WITH_TURNS: the table has a factor of %rcx. */
static void write_anchor(struct pass_state *state, const struct graph *graph,
                         const struct query_anchor *anchor, struct record *record, uint32_t number,
                         bool with_turns) {
    const struct event_set *events = &state->options->events;
    flush_record(record);
    buffer_print(record->out, "\t.long %s-.LQf%u_%u\n", anchor->label, number, anchor->fragment);
    for (uint32_t k = 0; k < events->count; k++)
        record_signed(record, anchor->sums.of[k]);
    record_number(record, with_turns ? 2 * anchor->count + has_turns(anchor) : anchor->count);
    for (uint32_t k = 0; k < events->count && has_turns(anchor); k++)
        record_signed(record, anchor->sums.turns[k]);
    for (uint32_t i = anchor->first; i < anchor->first + anchor->count; i++) {
        const struct graph_instruction *instruction = &graph->instructions.data[i];
        const struct basic_block *block = &graph->blocks.data[anchor->block];
        uint32_t weights =
            find_weights(state, graph, instruction, i == block->first ? block : NULL);
        bool small = weights < QUIPU_QUERY_ESCAPE;
        record_byte(record,
                    (small ? weights : QUIPU_QUERY_ESCAPE) << 4 | instruction->decoded->size);
        if (!small)
            record_number(record, weights);
    }
}

/* Switches to section NAME, in the group of the fragment's section. */
static void enter_section(struct pass_state *state, const struct fragment *fragment,
                          const char *name) {
    buffer_print(&state->tail, "\t%s\n\t.section %s,\"a?\",@progbits,unique,%u\n",
                 state->unit->sections.data[fragment->section].directive, name,
                 fragment->section + 1);
}

/* Whether ticks are counted. If so, tables contain names of functions, which moments are reported
 * with. */
static bool counts_ticks(const struct pass_state *state) {
    return event_mask(&state->options->events) >> QUIPU_EVENT_TICKS & 1;
}

static void write_table(struct pass_state *state, const struct graph *graph,
                        const anchor_list *anchors, uint32_t number, size_t f) {
    struct buffer *out = &state->tail;
    const struct fragment *fragment = &graph->function->fragments.data[f];
    struct record record = {.out = out};
    uint32_t count = 0;
    bool turns = false;
    for (size_t i = 0; i < anchors->count; i++) {
        count += anchors->data[i].fragment == f;
        turns |= anchors->data[i].fragment == f && has_turns(&anchors->data[i]);
    }
    uint32_t label = enter_rows(state, graph->function, number, f, QUIPU_RANGES_SECTION);
    buffer_print(out, "\t.long .LQf%u_%zu-., .LQh%u_%zu-.LQf%u_%zu, .LQx%u-., ", number, f, number,
                 f, number, f, label);
    buffer_print(out, counts_ticks(state) ? ".LQy%u-.\n" : "0\n", label);
    enter_section(state, fragment, QUIPU_QUERIES_SECTION);
    buffer_print(out, ".LQx%u:\n\t.long %u, .LQw-., %u\n", label,
                 event_mask(&state->options->events), turns ? count | QUIPU_QUERY_TURNS : count);
    for (size_t i = 0; i < anchors->count; i++)
        if (anchors->data[i].fragment == f)
            write_anchor(state, graph, &anchors->data[i], &record, number, turns);
    flush_record(&record);
    if (counts_ticks(state)) {
        const struct symbol *symbol = &state->unit->symbols.data[fragment->symbol];
        buffer_print(out, ".LQy%u:\n", label);
        record_text(&record, arena_copy(&state->unit->arena, symbol->name, symbol->length));
        flush_record(&record);
    }
    buffer_text(out, "\t.balign 4\n");
    buffer_release(&record.bytes);
}

void write_query_tables(struct planner *p, uint32_t number) {
    p->state->instrumented = true;
    for (size_t f = 0; f < p->graph->function->fragments.count; f++)
        write_table(p->state, p->graph, &p->anchors, number, f);
}

/* Writes the names of kinds, for quipu_kind_named. The weights, which all tables need, keep the
 * names in the link, and the unit's notes: --gc-sections drops a section that is not loaded if it
 * has relocations, as the note of events has. */
static void write_kind_names(struct pass_state *state) {
    const struct event_set *events = &state->options->events;
    struct record record = {.out = &state->tail};
    buffer_text(&state->tail, "\t.reloc .LQw, R_X86_64_NONE, .LQk\n"
                              "\t.reloc .LQw, R_X86_64_NONE, .LQu\n"
                              "\t.section " QUIPU_KINDS_SECTION ",\"a\",@progbits\n.LQk:\n");
    for (uint32_t k = 0; k < events->count; k++) {
        const struct event_kind *kind = events->kinds[k];
        record_byte(&record, kind->cell - 1);
        record_text(&record, kind->name);
        record_text(&record, kind->pattern ? kind->pattern : "");
    }
    flush_record(&record);
    buffer_release(&record.bytes);
}

void write_event_cells(struct pass_state *state) {
    const struct event_set *events = &state->options->events;
    struct buffer *out = &state->tail;
    if (!state->instrumented)
        return;
    buffer_print(out,
                 "\t.section " QUIPU_CELLS_SECTION ",\"awG\",@nobits,quipu_event_cells,comdat\n"
                 "\t.weak quipu_event_cells\n\t.hidden quipu_event_cells\n"
                 "\t.weak quipu_event_middle\n\t.hidden quipu_event_middle\n"
                 "\t.balign 8\nquipu_event_cells:\n\t.skip %d\nquipu_event_middle:\n\t.skip %d\n",
                 QUIPU_BIAS, QUIPU_EVENT_BLOCK - QUIPU_BIAS);
    buffer_text(out, "\t.section " QUIPU_WEIGHTS_SECTION ",\"a\",@progbits\n\t.balign 4\n.LQw:\n");
    const struct event_unit *unit = event_unit(state);
    for (size_t i = 0; i < unit->weights.count; i++)
        for (uint32_t k = 0; k < events->count; k++)
            buffer_print(out, "\t.short %d\n", unit->weights.data[i].of[k]);
    write_kind_names(state);
}

void write_events_record(struct pass_state *state) {
    const struct event_set *events = &state->options->events;
    struct record note;
    if (!state->instrumented)
        return;
    uint32_t label = ++state->labels;
    buffer_text(&state->tail, ".LQu:\n");
    begin_note(&note, &state->tail, label, QUIPU_NOTE_EVENTS);
    flush_record(&note);
    buffer_print(&state->tail, "\t.quad quipu_event_cells\n\t.long %u\n", event_mask(events));
    for (uint32_t k = 0; k < events->count; k++)
        if (events->kinds[k]->pattern) {
            record_text(&note, events->kinds[k]->name);
            record_text(&note, events->kinds[k]->pattern);
        }
    end_note(&note, label);
}

/* notes.c: the note of a unit, and the notes of functions that are left alone; format/notes.h
 * describes their format.
 *
 * requires: for the unit's note, all functions are done   breaks: nothing */
#include "pass/feature.h"
#include "pass/record.h"

#include "format/notes.h"

const char *function_name(struct arena *arena, const struct unit *unit,
                          const struct asm_function *function) {
    const struct symbol *symbol = &unit->symbols.data[function->symbol];
    return arena_copy(arena, symbol->name, symbol->length);
}

/* The text of such a function may be anything, even a macro's body. So no label is inserted into
 * it, and the note has its name but no address. It is among the notes of units, which belong to no
 * code: 'ld -r' of binutils refuses a section that is linked to code in one part only. */
void write_left_alone_note(struct pass_state *state, const struct asm_function *function) {
    struct record note;
    uint32_t label = ++state->labels;
    buffer_text(&state->tail, "\t.section " QUIPU_UNITS_SECTION ",\"\",@progbits\n");
    begin_note(&note, &state->tail, label, QUIPU_NOTE_LEFT_ALONE);
    flush_record(&note);
    buffer_text(&state->tail, "\t.quad 0\n");
    record_text(&note, function_name(&state->unit->arena, state->unit, function));
    record_text(&note, function->left_alone);
    end_note(&note, label);
}

/* Returns the features as 'quipu cc' names them: "count,event,placement=tree". */
static const char *features_text(struct pass_state *state) {
    const struct pass_options *options = state->options;
    struct arena *arena = &state->unit->arena;
    const char *text = "";
    for (size_t i = 0; i < state->on_count; i++)
        if (!state->on[i]->is_asked || state->on[i]->is_asked(options))
            text = arena_print(arena, "%s%s,", text, state->on[i]->name);
    return arena_print(arena, "%splacement=%s", text,
                       options->placement == PLACEMENT_TREE ? "tree" : "block");
}

void write_unit_note(struct pass_state *state, const char *version) {
    struct record note;
    uint32_t label = ++state->labels;
    buffer_text(&state->tail, "\t.section " QUIPU_UNITS_SECTION ",\"\",@progbits\n");
    begin_note(&note, &state->tail, label, QUIPU_NOTE_UNIT);
    record_text(&note, version);
    record_text(&note, state->unit->source[0] ? state->unit->source : state->unit->name);
    record_text(&note, state->unit->compiler);
    record_text(&note, features_text(state));
    end_note(&note, label);
    RUN_HOOKS(state, write_unit_records, state);
    if (state->instrumented) /* if no code names it, only this sets its type */
        buffer_print(&state->tail,
                     "\t.hidden quipu_bias\n\t.hidden %s\n\t.type quipu_bias, @tls_object\n",
                     state->options->shared ? "quipu_attach" : "quipu_attach_segment");
    RUN_CODE_HOOKS(state, declare_symbols, state);
}

uint32_t enter_rows(struct pass_state *state, const struct asm_function *function, uint32_t number,
                    size_t f, const char *name) {
    const struct fragment *fragment = &function->fragments.data[f];
    uint32_t label = ++state->labels;
    buffer_print(&state->tail,
                 "\t%s\n\t.reloc .LQf%u_%zu, R_X86_64_NONE, .LQr%u\n"
                 "\t.section %s,\"a?\",@progbits,unique,%u\n.LQr%u:\n",
                 state->unit->sections.data[fragment->section].directive, number, f, label, name,
                 fragment->section + 1, label);
    return label;
}

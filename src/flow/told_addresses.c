/* told_addresses.c: labels whose addresses are told in ways that are not understood; see
 * told_addresses.h.
 *
 *     1:  mov (%rdi), %rax                               1:  nop
 *     2:                                                     .pushsection .note, "", "note"
 *         .pushsection fixups, "a"                           .quad 1b
 *         .long 1b-., 2b-.                                   .popsection
 *         .popsection
 *
 * If the load faults, a handler looks for its address in the table, and goes on at the other one.
 * So nothing may come between the label 1 and the load, or it is not found: the label is *pinned*.
 * And control may go from the load to a place that nobody sees, and come to the label 2 from one:
 *
 * A label is pinned that names its instruction.  But not at the end of an inline assembly: whoever
 * wrote that does not know the instruction.  Nor where a person's instruction alone tells of it,
 * and what it names cannot fault: that is a place to go on at.
 *
 * It is left unseen where it is pinned, and its instruction may fault.  It is entered unseen, too,
 * but for the first label of a record in a table, whose instruction may fault: that is there to be
 * compared with.
 *
 * Where a label is both left and entered unseen no counters tell how often, and build_graph finds
 * no place for them: the function is left alone.
 *
 * A no-operation or a jump whose label leads a record with another label is a static key: the
 * program makes a jump of it, or a no-operation, so control may go elsewhere behind it.
 *
 *         call allocate
 *     3:  ...
 *         .pushsection frames, "a"; .quad 3b; .word 32, 1, 8; .popsection
 *
 * A collector of garbage looks for what a call returns to, and finds what the frame there holds.
 * A label behind a call that data tell is not pinned, but *returned to*: nothing comes between the
 * call and it.  It is entered by the call alone; a function that tells of it otherwise, or jumps
 * to it, is left alone.
 *
 * What is understood: tables that a person's indirect jumps go by; function's begins; a compiler's
 * own tables and labels, of which nobody knows the instruction.
 *
 * Not perfect: a handler that goes on where no label is told; the begin of a function that is
 * compared with. */
#include "flow/told_addresses.h"

#include "asm/distances.h"
#include "x86/measure.h"

#include <string.h>

/* What is known of a symbol. */
struct telling {
    bool used;    /* named in code, or from another section, or everywhere */
    bool kept;    /* a compiler names it, too */
    bool told;    /* the rest is for those that are */
    bool later;   /* not only as the first of a record */
    bool leads;   /* as the first of a record that tells of another one */
    bool fixed;   /* not by a person's instruction alone */
    bool in_data; /* by a person's data */
    bool by_name; /* by an instruction, or to other files */
    bool in_code; /* a person's instruction in a function names it ... */
    bool jumped;  /* ... in one with an indirect jump */
};

static const char range_reason[] = "a range of it is told, and where it is left in the middle";

struct finder {
    struct unit *unit;
    struct telling *symbols;
    uint32_t *heads; /* by statement: the label in front of the data that it is among, or NONE */
    bool *jumps;     /* by function: a person's indirect jump or call is in it */
};

static const struct statement *statement_at(const struct unit *unit, uint32_t index) {
    return &unit->statements.data[index];
}

/* The instruction that the label names, or NONE where it is not of the label's function. */
static uint32_t instruction_at(const struct unit *unit, uint32_t label) {
    uint32_t section = statement_at(unit, label)->section, function = unit->function_of[label];
    for (uint32_t i = label + 1; i < unit->statements.count; i++) {
        const struct statement *s = statement_at(unit, i);
        if (s->section != section)
            continue;
        if (unit->function_of[i] != function || s->aligns || s->data || s->opaque)
            return NONE;
        if (s->kind == STATEMENT_INSTRUCTION && !s->prefix)
            return i;
    }
    return NONE;
}

/* Whether the symbol is a function, by this name or another one, and no place in it. */
static bool names_function(const struct unit *unit, uint32_t index) {
    const struct symbol *symbol = &unit->symbols.data[index];
    uint32_t function = unit->function_of[symbol->statement];
    if (symbol->function || symbol->indirect || function == NONE)
        return true;
    uint32_t name = unit->functions.data[function].symbol;
    return name == index || ((symbol->global || symbol->aliased) &&
                             instruction_at(unit, symbol->statement) ==
                                 instruction_at(unit, unit->symbols.data[name].statement));
}

/* Whether the symbol is a label in a function that is instrumented, as far as is known. */
static bool is_place(const struct unit *unit, uint32_t index) {
    const struct symbol *symbol = &unit->symbols.data[index];
    if (symbol->statement == NONE || names_function(unit, index))
        return false;
    uint32_t function = unit->function_of[symbol->statement];
    return function != NONE && !unit->functions.data[function].left_alone;
}

/* ---- tables ---- */

static void find_heads(struct finder *f) {
    const struct unit *unit = f->unit;
    uint32_t head = NONE;
    for (uint32_t i = 0; i < unit->statements.count; i++) {
        const struct statement *s = statement_at(unit, i);
        f->heads[i] = s->begins ? NONE : head;
        if (s->kind == STATEMENT_LABEL)
            head = s->symbol;
        else
            head = s->data || s->aligns ? f->heads[i] : NONE;
    }
}

/* Whether REFERENCE, number INDEX of all, is the first one of its record: of its statement, where
 * that has several; else of what stands there behind a change of the section, or a label. */
static bool is_first(const struct finder *f, size_t index) {
    const struct unit *unit = f->unit;
    const struct reference *all = unit->references.data;
    uint32_t statement = all[index].statement;
    if (index && all[index - 1].statement == statement)
        return false;
    if (index + 1 < unit->references.count && all[index + 1].statement == statement)
        return true;
    for (uint32_t i = statement;; i--) {
        const struct statement *s = statement_at(unit, i);
        if (i != statement) {
            if (s->section != statement_at(unit, statement)->section || !s->data)
                return true;
            for (size_t r = index; r-- > 0 && all[r].statement >= i;)
                if (all[r].statement == i)
                    return false;
        }
        if (s->begins || i == 0)
            return true;
    }
}

/* Whether a table with that head is one that indirect jumps of the label's function go by. */
static bool is_jump_table(const struct finder *f, uint32_t head, uint32_t label) {
    const struct telling *table = &f->symbols[head];
    return table->jumped || (table->in_code && f->jumps[f->unit->function_of[label]]);
}

/* ---- what is patched ---- */

/* Nothing may be between the instructions that the program writes over: no-operations, mostly, or
 * a profiler's call. */
static void keep_together(struct unit *unit, uint32_t label) {
    bool first = true;
    for (uint32_t i = label + 1; i < unit->statements.count; i++) {
        struct statement *s = &unit->statements.data[i];
        if (s->section != statement_at(unit, label)->section)
            continue;
        if (s->aligns || s->data || s->opaque)
            return;
        if (s->kind != STATEMENT_INSTRUCTION)
            continue;
        bool before = unit->function_of[i] == NONE; /* some may stand in front of the function */
        bool fills = before || s->prefix || is_no_operation(&unit->code->decoded[i]);
        s->kept = first || fills;
        if (!fills)
            return;
        first = false;
    }
}

static void keep_patched(struct unit *unit) {
    for (size_t i = 0; i < unit->references.count; i++) {
        const struct reference *reference = &unit->references.data[i];
        const struct statement *s = statement_at(unit, reference->statement);
        uint32_t label = unit->symbols.data[reference->symbol].statement;
        if (unit->sections.data[s->section].patches && label != NONE)
            keep_together(unit, label);
    }
}

/* ---- what is told ---- */

static void note_uses(struct finder *f) {
    const struct unit *unit = f->unit;
    for (size_t i = 0; i < unit->symbols.count; i++)
        f->symbols[i].used = unit->symbols.data[i].global;
    for (size_t i = 0; i < unit->references.count; i++) {
        const struct reference *reference = &unit->references.data[i];
        const struct statement *s = statement_at(unit, reference->statement);
        uint32_t label = unit->symbols.data[reference->symbol].statement;
        bool away = label == NONE || statement_at(unit, label)->section != s->section;
        bool code = s->kind == STATEMENT_INSTRUCTION, written = is_hand_written(unit, s);
        uint32_t function = unit->function_of[reference->statement];
        struct telling *telling = &f->symbols[reference->symbol];
        telling->used |= away || code;
        telling->kept |= !written;
        telling->in_code |= code && written && function != NONE;
        telling->jumped |= code && written && function != NONE && f->jumps[function];
    }
}

static void note_jumps(struct finder *f) {
    const struct unit *unit = f->unit;
    for (uint32_t i = 0; i < unit->statements.count; i++) {
        const struct statement *s = statement_at(unit, i);
        if (s->kind != STATEMENT_INSTRUCTION || unit->function_of[i] == NONE ||
            !is_hand_written(unit, s))
            continue;
        uint8_t class = unit->code->decoded[i].class;
        if (class == CLASS_JUMP_INDIRECT || class == CLASS_CALL_INDIRECT)
            f->jumps[unit->function_of[i]] = true;
    }
}

static void note_told(struct finder *f, size_t index) {
    const struct unit *unit = f->unit;
    const struct reference *reference = &unit->references.data[index];
    const struct statement *s = statement_at(unit, reference->statement);
    if (!is_place(unit, reference->symbol) || unit->sections.data[s->section].exceptions)
        return;
    uint32_t label = unit->symbols.data[reference->symbol].statement;
    if (!is_hand_written(unit, s) && !is_hand_written(unit, statement_at(unit, label)))
        return;
    bool first = false, in_data = s->kind != STATEMENT_INSTRUCTION;
    if (in_data) {
        uint32_t head = f->heads[reference->statement];
        bool headed = head != NONE && f->symbols[head].used;
        if (headed && is_jump_table(f, head, label))
            return;
        first = !headed && is_hand_written(unit, s) && is_first(f, index);
    }
    struct telling *telling = &f->symbols[reference->symbol];
    telling->told = true;
    telling->leads |= first && index + 1 < unit->references.count &&
                      is_place(unit, reference[1].symbol) && !is_first(f, index + 1);
    telling->in_data |= in_data && is_hand_written(unit, s);
    telling->by_name |= !in_data;
    telling->later |= !first;
    telling->fixed |= in_data || !is_hand_written(unit, s);
}

static void note_name(struct telling *telling) {
    telling->told = telling->later = telling->fixed = telling->by_name = true;
}

/* How many references, from number INDEX on, which is the first of a record, are the record's. */
static size_t record_size(const struct finder *f, size_t index) {
    const struct unit *unit = f->unit;
    uint32_t section = statement_at(unit, unit->references.data[index].statement)->section;
    size_t count = 1;
    while (index + count < unit->references.count &&
           statement_at(unit, unit->references.data[index + count].statement)->section == section &&
           !is_first(f, index + count))
        count++;
    return count;
}

/* A record of three places is a range of code, and where control goes on if it is left in the
 * middle: a critical section that is begun anew (rseq).  What is counted at its end would be in it,
 * behind the store that ends it. */
static void leave_ranges(struct finder *f) {
    struct unit *unit = f->unit;
    const struct reference *all = unit->references.data;
    for (size_t i = 0, size; i < unit->references.count; i += size) {
        const struct statement *s = statement_at(unit, all[i].statement);
        size = 1;
        if (s->kind == STATEMENT_INSTRUCTION || !is_hand_written(unit, s) || !is_first(f, i))
            continue;
        size = record_size(f, i);
        bool one_statement = all[i + size - 1].statement == all[i].statement;
        bool range = size == 3 || (size > 3 && one_statement);
        for (size_t n = i; range && n < i + size; n++)
            range = leads_to_code(unit, &unit->symbols.data[all[n].symbol]);
        uint32_t head = f->heads[all[i].statement];
        for (size_t n = i; range && n < i + size; n++)
            if (is_place(unit, all[n].symbol) &&
                !(head != NONE &&
                  is_jump_table(f, head, unit->symbols.data[all[n].symbol].statement)))
                leave_function_of(unit, unit->symbols.data[all[n].symbol].statement, range_reason);
    }
}

/* Other files know a name, and another name of the same place. */
static void note_names(struct finder *f) {
    const struct unit *unit = f->unit;
    for (uint32_t i = 0; i < unit->symbols.count; i++) {
        const struct symbol *symbol = &unit->symbols.data[i];
        if ((symbol->global || symbol->aliased) && is_place(unit, i) &&
            is_hand_written(unit, statement_at(unit, symbol->statement)))
            note_name(&f->symbols[i]);
    }
}

static bool may_turn(const struct decoded *decoded) {
    return decoded->class == CLASS_JUMP || is_no_operation(decoded);
}

static bool is_entered(const struct symbol *symbol) {
    return symbol->branch_target || symbol->outside_entry || symbol->global;
}

/* The person's call right in front of the label, with other labels between at most, or NONE.  Sets
 * *ENTERED to whether control may come to one of these otherwise. */
static uint32_t call_in_front(const struct unit *unit, uint32_t label, bool *entered) {
    uint32_t section = statement_at(unit, label)->section;
    *entered = false;
    for (uint32_t i = label + 1; i-- > 0;) {
        const struct statement *s = statement_at(unit, i);
        if (s->section != section)
            continue;
        if (s->aligns || s->data || s->opaque)
            return NONE;
        if (s->kind == STATEMENT_LABEL)
            *entered |= is_entered(&unit->symbols.data[s->symbol]);
        bool calls = s->kind == STATEMENT_INSTRUCTION && unit->function_of[i] != NONE &&
                     is_hand_written(unit, s) && is_call_class(unit->code->decoded[i].class);
        if (s->kind == STATEMENT_INSTRUCTION)
            return calls ? i : NONE;
    }
    return NONE;
}

static const char returned_reason[] = "a place behind a call is told, and may be gone to otherwise";

/* A name behind another function's call may be a function, and what the call returns to. */
static void leave_named(struct unit *unit, const struct reference *reference) {
    const struct symbol *symbol = &unit->symbols.data[reference->symbol];
    const struct statement *s = statement_at(unit, reference->statement);
    bool entered;
    if (symbol->function || symbol->indirect || symbol->statement == NONE ||
        s->kind == STATEMENT_INSTRUCTION || !is_hand_written(unit, s))
        return;
    uint32_t call = call_in_front(unit, symbol->statement, &entered);
    if (call == NONE || unit->function_of[call] == unit->function_of[symbol->statement])
        return;
    leave_function_of(unit, call, returned_reason);
    leave_function_of(unit, symbol->statement, returned_reason);
}

/* The label is what a call returns to. */
static void mark_returned_to(struct finder *f, uint32_t index, bool entered) {
    struct symbol *symbol = &f->unit->symbols.data[index];
    symbol->returned_to = true;
    symbol->address_taken = false;
    if (entered || f->symbols[index].by_name)
        leave_function_of(f->unit, symbol->statement, returned_reason);
}

static void mark(struct finder *f, uint32_t index) {
    struct unit *unit = f->unit;
    const struct telling *telling = &f->symbols[index];
    struct symbol *symbol = &unit->symbols.data[index];
    const struct statement *label = statement_at(unit, symbol->statement);
    uint32_t instruction = instruction_at(unit, symbol->statement);
    bool entered;
    uint32_t call = telling->in_data ? call_in_front(unit, symbol->statement, &entered) : NONE;
    if (call != NONE && unit->function_of[call] == unit->function_of[symbol->statement]) {
        mark_returned_to(f, index, entered);
        return;
    }
    bool names = is_hand_written(unit, label) && !label->ends_asm && instruction != NONE;
    symbol->left_unseen = names && unit->code->decoded[instruction].faults;
    symbol->switched = names && telling->leads && may_turn(&unit->code->decoded[instruction]);
    symbol->pinned = names && (telling->fixed || symbol->left_unseen);
    symbol->outside_entry |= telling->later || !symbol->left_unseen;
    if (!telling->kept && !f->jumps[unit->function_of[symbol->statement]])
        symbol->address_taken = false; /* no indirect jump goes there */
}

void find_told_addresses(struct unit *unit) {
    keep_patched(unit);
    if (!has_hand_written(unit))
        return;
    struct finder f = {.unit = unit};
    f.symbols = ARENA_ARRAY(&unit->arena, struct telling, unit->symbols.count);
    f.heads = ARENA_ARRAY(&unit->arena, uint32_t, unit->statements.count);
    f.jumps = ARENA_ARRAY(&unit->arena, bool, unit->functions.count);
    find_heads(&f);
    note_jumps(&f);
    note_uses(&f);
    leave_ranges(&f);
    for (size_t i = 0; i < unit->references.count; i++) {
        leave_named(unit, &unit->references.data[i]);
        note_told(&f, i);
    }
    note_names(&f);
    for (uint32_t i = 0; i < unit->symbols.count; i++)
        if (f.symbols[i].told)
            mark(&f, i);
}

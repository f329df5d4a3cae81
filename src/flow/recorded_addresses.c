/* recorded_addresses.c: labels whose addresses are recorded for an unknown use; see
 * recorded_addresses.h.
 *
 *     1:  mov (%rdi), %rax                               1:  nop
 *     2:                                                     .pushsection .note, "", "note"
 *         .pushsection fixups, "a"                           .quad 1b
 *         .long 1b-., 2b-.                                   .popsection
 *         .popsection
 *
 * If the load faults, a handler finds its address in the table, and continues at the other address.
 * So nothing may come between the label 1 and the load, otherwise the handler does not find it: the
 * label is *pinned*. Control may also leave the load for an unknown address, and arrive at the
 * label 2 from one.
 *
 * A label that names its instruction is pinned. There are two exceptions. The author of an inline
 * assembly does not know the instruction behind its end. And a label that only a hand-written
 * instruction records, and whose instruction cannot fault, is an address at which to continue.
 *
 * A pinned label is *left unseen* if its instruction may fault. It is entered unseen, too, unless
 * it is only the first label of records and its instruction may fault: such a label is there for
 * comparison.
 *
 * If a label is both left and entered unseen, no counters determine how often control does so.
 * build_graph then finds no position for them, and the function is left alone.
 *
 * If the label of a no-operation or a jump is the first of a record with another label, it is a
 * static key: the program changes the one into the other. The label is *switched*: control may go
 * elsewhere behind its instruction.
 *
 *         call allocate
 *     3:  ...
 *         .pushsection frames, "a"; .quad 3b; .word 32, 1, 8; .popsection
 *
 * A garbage collector looks up the return address of a call, and finds a description of the frame.
 * If data record a label behind a call, it is not pinned, but *returned to*: nothing comes between
 * the call and the label. Control enters it only from the call. If its address is also recorded
 * otherwise, or control may jump to it, its function is left alone.
 *
 * The following uses are known: tables for indirect jumps of hand-written code, begins of
 * functions, and a compiler's own tables and labels. No user of a compiler's label knows its
 * instruction.
 *
 * Not perfect: a handler that continues where there is no recorded label, and a comparison with the
 * begin of a function, are not found. */
#include "flow/recorded_addresses.h"

#include "asm/distances.h"
#include "x86/measure.h"

#include <string.h>

/* What is known about a symbol. Members up to by_name, except used and kept, are for symbols whose
 * address is recorded. */
struct recording {
    bool used;     /* code or another section names it, or it is global */
    bool kept;     /* compiled code names it, too */
    bool recorded; /* its address is recorded */
    bool later;    /* not only as the first of a record */
    bool leads;    /* as the first of a record that also has another label */
    bool fixed;    /* not only by hand-written instructions */
    bool in_data;  /* by hand-written data */
    bool by_name;  /* by an instruction, or for other files */
    bool in_code;  /* a hand-written instruction in a function names it ... */
    bool jumped;   /* ... in a function with an indirect jump */
};

static const char range_reason[] =
    "a range of it is recorded, with where to go on when it is left in the middle";

struct finder {
    struct unit *unit;
    struct recording *symbols;
    uint32_t *heads; /* by statement: the label before the data that it is part of, or NONE */
    bool *jumps;     /* by function: it has a hand-written indirect jump or call */
};

static const struct statement *statement_at(const struct unit *unit, uint32_t index) {
    return &unit->statements.data[index];
}

/* Returns the instruction that the label names, or NONE if the next bytes are not an instruction of
 * the label's function. */
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

/* Whether the symbol is a name of a function, and not of a label in it. */
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

/* Whether the symbol is a label in a function that is not left alone so far. */
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

/* Whether the reference with that INDEX is the first of its record. A statement with several
 * references is a record. Otherwise a record begins where the section changes, or behind a label or
 * any other statement that is not data. */
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

/* Whether HEAD is the label of a table that indirect jumps of the label's function use. */
static bool is_jump_table(const struct finder *f, uint32_t head, uint32_t label) {
    const struct recording *table = &f->symbols[head];
    return table->jumped || (table->in_code && f->jumps[f->unit->function_of[label]]);
}

/* ---- patched code ---- */

/* Keeps the instructions together that the program overwrites: mostly no-operations, or a
 * profiler's call. */
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
        bool before = unit->function_of[i] == NONE; /* some may be in front of the function */
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

/* ---- recorded addresses ---- */

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
        struct recording *recording = &f->symbols[reference->symbol];
        recording->used |= away || code;
        recording->kept |= !written;
        recording->in_code |= code && written && function != NONE;
        recording->jumped |= code && written && function != NONE && f->jumps[function];
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

static void note_recorded(struct finder *f, size_t index) {
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
    struct recording *recording = &f->symbols[reference->symbol];
    recording->recorded = true;
    recording->leads |= first && index + 1 < unit->references.count &&
                        is_place(unit, reference[1].symbol) && !is_first(f, index + 1);
    recording->in_data |= in_data && is_hand_written(unit, s);
    recording->by_name |= !in_data;
    recording->later |= !first;
    recording->fixed |= in_data || !is_hand_written(unit, s);
}

static void note_name(struct recording *recording) {
    recording->recorded = recording->later = recording->fixed = recording->by_name = true;
}

/* Returns the number of references in the record that begins with reference INDEX. */
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

/* Leaves functions alone in which a critical section is restarted (rseq). A record of three
 * addresses (in one statement, of three or more) describes it: its begin, its end, and the address
 * at which control continues if it is interrupted. A counter at its end would be inside of it,
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

/* Records global names, and names that are aliases: other files may know their addresses. */
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

/* Returns the hand-written call directly before the label, or NONE. Only labels may be in between.
 * Sets *ENTERED to whether control may enter at one of these labels from elsewhere. */
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

static const char returned_reason[] =
    "an address behind a call is recorded, and may also be reached otherwise";

/* A name behind a call in another function may be a function, or the return address of the call.
 * Leaves both functions alone. */
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

/* Marks a label to which a call returns. */
static void mark_returned_to(struct finder *f, uint32_t index, bool entered) {
    struct symbol *symbol = &f->unit->symbols.data[index];
    symbol->returned_to = true;
    symbol->address_taken = false;
    if (entered || f->symbols[index].by_name)
        leave_function_of(f->unit, symbol->statement, returned_reason);
}

static void mark(struct finder *f, uint32_t index) {
    struct unit *unit = f->unit;
    const struct recording *recording = &f->symbols[index];
    struct symbol *symbol = &unit->symbols.data[index];
    const struct statement *label = statement_at(unit, symbol->statement);
    uint32_t instruction = instruction_at(unit, symbol->statement);
    bool entered;
    uint32_t call = recording->in_data ? call_in_front(unit, symbol->statement, &entered) : NONE;
    if (call != NONE && unit->function_of[call] == unit->function_of[symbol->statement]) {
        mark_returned_to(f, index, entered);
        return;
    }
    bool names = is_hand_written(unit, label) && !label->ends_asm && instruction != NONE;
    symbol->left_unseen = names && unit->code->decoded[instruction].faults;
    symbol->switched = names && recording->leads && may_turn(&unit->code->decoded[instruction]);
    symbol->pinned = names && (recording->fixed || symbol->left_unseen);
    symbol->outside_entry |= recording->later || !symbol->left_unseen;
    if (!recording->kept && !f->jumps[unit->function_of[symbol->statement]])
        symbol->address_taken = false; /* no indirect jump leads there */
}

void find_recorded_addresses(struct unit *unit) {
    keep_patched(unit);
    if (!has_hand_written(unit))
        return;
    struct finder f = {.unit = unit};
    f.symbols = ARENA_ARRAY(&unit->arena, struct recording, unit->symbols.count);
    f.heads = ARENA_ARRAY(&unit->arena, uint32_t, unit->statements.count);
    f.jumps = ARENA_ARRAY(&unit->arena, bool, unit->functions.count);
    find_heads(&f);
    note_jumps(&f);
    note_uses(&f);
    leave_ranges(&f);
    for (size_t i = 0; i < unit->references.count; i++) {
        leave_named(unit, &unit->references.data[i]);
        note_recorded(&f, i);
    }
    note_names(&f);
    for (uint32_t i = 0; i < unit->symbols.count; i++)
        if (f.symbols[i].recorded)
            mark(&f, i);
}

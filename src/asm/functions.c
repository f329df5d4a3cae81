/* functions.c: finds the function of each statement.
 *
 * A function begins at a label of .type @function. It ends at its .size, at the label of the next
 * function, or with its section. `f.cold` and `f.cold.1` are fragments of f. In hand-written text,
 * a global label in code begins a function, too, and so does one behind a function's end to which a
 * call or a jump leads.
 *
 * requires: parse_unit   makes: functions, and the reason why each is left alone, if it is
 * The following is left alone:
 *   - ifunc resolvers, and the functions that they call in this unit: they run before thread-local
 *     storage exists,
 *   - text with macros or conditional assembly, data between instructions, jumps relative to the
 *     location counter, sections whose text is not in the order of their bytes.
 * Constants behind all code of a function are not part of it. */
#include "asm/lex.h"
#include "asm/unit.h"
#include "util/fault.h"

#include <string.h>
#include <strings.h>

/* The fragment that is open in each section. */
struct open_fragment {
    uint32_t function; /* NONE: no fragment is open */
    uint32_t fragment;
};

struct finder {
    struct unit *unit;
    struct open_fragment *open; /* by section */
    uint32_t *function_of;      /* by symbol: the function that it names, or NONE */
};

/* Returns the length of the function's name in the name of a cold fragment: "f" of "f.cold.3".
 * Other names are returned whole. */
static size_t parent_length(const struct symbol *symbol) {
    const char *cold = memmem(symbol->name, symbol->length, ".cold", 5);
    if (!cold)
        return symbol->length;
    const char *end = symbol->name + symbol->length;
    for (const char *c = cold + 5; c < end; c++)
        if (*c != '.' && (*c < '0' || *c > '9'))
            return symbol->length;
    return (size_t)(cold - symbol->name);
}

/* Whether the function at the label is made by a compiler. */
static bool is_compiled(const struct unit *unit, const struct statement *label) {
    return !is_hand_written(unit, label);
}

/* Whether it is a stub that compilers use in place of indirect branches and returns:
 * __x86_return_thunk, __llvm_retpoline_r11. Any register may hold a value there, and it must stay
 * there. */
static bool is_branch_stub(const struct symbol *symbol) {
    static const char *const prefixes[] = {"__x86_", "__llvm_"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        size_t length = strlen(prefixes[i]);
        if (symbol->length > length && memcmp(symbol->name, prefixes[i], length) == 0)
            return true;
    }
    return false;
}

static const struct statement *statement_at(const struct unit *unit,
                                            const struct fragment *fragment, uint32_t position) {
    return &unit->statements.data[unit->sections.data[fragment->section].statements.data[position]];
}

static void close_fragment(struct finder *finder, uint32_t section) {
    struct unit *unit = finder->unit;
    struct open_fragment *open = &finder->open[section];
    if (open->function == NONE)
        return;
    struct fragment *fragment =
        &unit->functions.data[open->function].fragments.data[open->fragment];
    /* it extends to the end of the section */
    if (fragment->last == NONE)
        fragment->last = (uint32_t)unit->sections.data[section].statements.count;
    open->function = NONE;
}

static void open_fragment(struct finder *finder, uint32_t symbol_index, uint32_t section,
                          uint32_t position, const struct statement *label) {
    struct unit *unit = finder->unit;
    const struct symbol *symbol = &unit->symbols.data[symbol_index];
    size_t length = parent_length(symbol);
    uint32_t owner = NONE;
    if (length < symbol->length) {
        uint32_t *parent = map_find(&unit->symbol_index, symbol->name, length);
        if (parent)
            owner = finder->function_of[*parent];
    }
    if (owner == NONE) {
        owner = (uint32_t)unit->functions.count;
        struct asm_function function = {.symbol = symbol_index,
                                        .compiled =
                                            is_compiled(unit, label) && !is_branch_stub(symbol),
                                        .line = label->line};
        vector_push(&unit->arena, &unit->functions, function);
        finder->function_of[symbol_index] = owner;
    }
    struct asm_function *function = &unit->functions.data[owner];
    struct fragment fragment = {symbol_index, section, position, NONE};
    vector_push(&unit->arena, &function->fragments, fragment);
    finder->open[section] = (struct open_fragment){owner, (uint32_t)function->fragments.count - 1};
}

/* Whether no statement of the fragment before POSITION in its section outputs bytes. With ALIGNED,
 * alignments may. */
static bool is_empty(const struct unit *unit, const struct fragment *fragment, uint32_t position,
                     bool aligned) {
    for (uint32_t i = fragment->first; i < position; i++) {
        const struct statement *s = statement_at(unit, fragment, i);
        if (s->kind == STATEMENT_INSTRUCTION || s->data || s->opaque || (s->aligns && !aligned))
            return false;
    }
    return true;
}

/* If a hand-written name is directly in front of another name, both are one function: the open
 * fragment becomes that of SYMBOL. Returns whether they are. */
static bool join_alias(struct finder *finder, uint32_t symbol_index, uint32_t section,
                       uint32_t position, const struct statement *label) {
    struct unit *unit = finder->unit;
    const struct open_fragment *open = &finder->open[section];
    if (open->function == NONE || is_compiled(unit, label))
        return false;
    struct asm_function *function = &unit->functions.data[open->function];
    struct fragment *fragment = &function->fragments.data[open->fragment];
    const struct symbol *symbol = &unit->symbols.data[symbol_index];
    if (open->fragment != 0 || function->fragments.count != 1 || function->compiled ||
        symbol->indirect || unit->symbols.data[function->symbol].indirect ||
        parent_length(symbol) < symbol->length || !is_empty(unit, fragment, position, false))
        return false;
    function->symbol = fragment->symbol = symbol_index;
    finder->function_of[symbol_index] = open->function;
    return true;
}

/* Removes cold fragments without code. Compilers write them if control never gets there. Sets
 * `bare` of functions. */
static void drop_empty_pieces(struct unit *unit) {
    for (size_t i = 0; i < unit->functions.count; i++) {
        struct asm_function *function = &unit->functions.data[i];
        size_t kept = 0;
        for (size_t f = 0; f < function->fragments.count; f++) {
            const struct fragment *fragment = &function->fragments.data[f];
            if (f == 0 || !is_empty(unit, fragment, fragment->last, false))
                function->fragments.data[kept++] = *fragment;
        }
        function->fragments.count = kept;
        const struct fragment *only = &function->fragments.data[0];
        function->bare = kept == 1 && is_empty(unit, only, only->last, true);
    }
}

/* Whether WORD is one of NAMES, in small or capital letters. NAMES ends with NULL. */
static bool is_one_of(struct span word, const char *const *names) {
    for (; *names; names++)
        if (word.length == strlen(*names) && strncasecmp(word.start, *names, word.length) == 0)
            return true;
    return false;
}

/* Returns the mnemonic of S, without the prefixes that branches may have. */
static struct span operation(const struct unit *unit, const struct statement *s) {
    static const char *const prefixes[] = {"bnd", "notrack", "data16", "rep", "repz", "repe", NULL};
    struct span text = {unit->text + s->start, s->end - s->start};
    struct span word = first_word(text);
    while (is_one_of(word, prefixes)) {
        text = behind(text, word);
        word = first_word(text);
    }
    return word;
}

static bool is_call(const struct unit *unit, const struct statement *s) {
    static const char *const calls[] = {"call", "callq", NULL};
    return is_one_of(operation(unit, s), calls);
}

/* Whether control never continues behind the instruction S. */
static bool is_end(const struct unit *unit, const struct statement *s) {
    static const char *const ends[] = {"jmp", "jmpq", "ret", "retq", "ud2", "int3", NULL};
    return is_one_of(operation(unit, s), ends);
}

/* Removes constants behind all instructions of the fragment, unless a branch leads to them. */
static void cut_constants(struct unit *unit, struct fragment *fragment) {
    bool constants = false;
    for (uint32_t last = fragment->last; last > fragment->first; last--) {
        const struct statement *s = statement_at(unit, fragment, last - 1);
        if (s->opaque || s->prefix ||
            (s->kind == STATEMENT_LABEL && unit->symbols.data[s->symbol].branch_target))
            return;
        if (s->kind == STATEMENT_INSTRUCTION) {
            if (constants && is_end(unit, s))
                fragment->last = last;
            return;
        }
        constants |= s->data;
    }
}

static void cut_all_constants(struct unit *unit) {
    for (size_t i = 0; i < unit->functions.count; i++) {
        struct asm_function *function = &unit->functions.data[i];
        for (size_t f = 0; f < function->fragments.count; f++)
            cut_constants(unit, &function->fragments.data[f]);
    }
}

/* Whether the first bytes behind POSITION in a section are an instruction. */
static bool precedes_code(const struct unit *unit, const struct section *section,
                          uint32_t position) {
    for (uint32_t i = position + 1; i < section->statements.count; i++) {
        const struct statement *s = &unit->statements.data[section->statements.data[i]];
        if (s->kind == STATEMENT_INSTRUCTION || s->data || s->opaque)
            return s->kind == STATEMENT_INSTRUCTION;
    }
    return false;
}

/* Whether the label at POSITION of its section begins a function. Its type decides. Hand-written
 * code often has only a global label, or a local one that it calls. Inside a typed function, such a
 * label is a further entry, not a function. */
static bool begins_function(const struct finder *finder, const struct statement *label,
                            uint32_t position) {
    const struct unit *unit = finder->unit;
    const struct symbol *symbol = &unit->symbols.data[label->symbol];
    const struct section *section = &unit->sections.data[label->section];
    uint32_t open = finder->open[label->section].function;
    if (!section->executable)
        return false;
    if (symbol->function || symbol->indirect)
        return true;
    if (symbol->local)
        return false;
    if (symbol->global)
        return open == NONE || !unit->symbols.data[unit->functions.data[open].symbol].function;
    return open == NONE && symbol->branch_target && is_hand_written(unit, label) &&
           precedes_code(unit, section, position);
}

/* ".size f, ..." ends f if the section is that of f. */
static void end_function(struct finder *finder, const struct statement *statement, uint32_t section,
                         uint32_t position) {
    struct unit *unit = finder->unit;
    struct open_fragment *open = &finder->open[section];
    if (open->function == NONE)
        return;
    struct span text = {unit->text + statement->start, statement->end - statement->start};
    struct cursor cursor = cursor_over(behind(text, first_word(text)));
    struct span name = unquoted(next_argument(&cursor));
    struct fragment *fragment =
        &unit->functions.data[open->function].fragments.data[open->fragment];
    const struct symbol *symbol = &unit->symbols.data[fragment->symbol];
    if (name.length == symbol->length && memcmp(name.start, symbol->name, name.length) == 0) {
        fragment->last = position;
        open->function = NONE;
    }
}

/* ---- functions to leave alone ---- */

/* Whether the statement before the fragment is only a prefix of the first instruction in the
 * fragment. */
static bool begins_behind_prefix(const struct unit *unit, const struct fragment *fragment) {
    for (uint32_t i = fragment->first; i-- > 0;) {
        const struct statement *statement = statement_at(unit, fragment, i);
        if (statement->kind == STATEMENT_INSTRUCTION || statement->data || statement->opaque)
            return statement->prefix;
    }
    return false;
}

/* Whether a label or an alignment is between a prefix and its instruction ("je 0f; lock; 0: incq
 * x"), or the fragment begins or ends there. Such a label is in the middle of an instruction, and
 * code inserted there would get the prefix. */
static bool parts_prefix(const struct unit *unit, const struct fragment *fragment) {
    bool prefix = begins_behind_prefix(unit, fragment);
    for (uint32_t i = fragment->first; i < fragment->last; i++) {
        const struct statement *statement = statement_at(unit, fragment, i);
        if (statement->kind == STATEMENT_INSTRUCTION)
            prefix = statement->prefix;
        else if (prefix && (statement->kind == STATEMENT_LABEL || statement->aligns))
            return true;
    }
    return prefix;
}

static const char *find_obstacle(const struct unit *unit, const struct fragment *fragment) {
    const struct section *section = &unit->sections.data[fragment->section];
    if (section->subsections)
        return "its section has subsections";
    if (parts_prefix(unit, fragment))
        return "a label stands between a prefix and its instruction";
    for (uint32_t i = fragment->first; i < fragment->last; i++) {
        const struct statement *statement = statement_at(unit, fragment, i);
        if (statement->opaque)
            return statement->kind == STATEMENT_INSTRUCTION ? "jump to a place that has no label"
                                                            : "macro or conditional assembly";
        if (statement->data)
            return "data among instructions";
    }
    return NULL;
}

/* Leaves alone the functions of this unit to which the direct branches of FUNCTION lead. Returns
 * whether any of them was not left alone before. */
static bool spread_resolver(struct finder *finder, const struct asm_function *function) {
    struct unit *unit = finder->unit;
    bool changed = false;
    for (size_t f = 0; f < function->fragments.count; f++) {
        const struct fragment *fragment = &function->fragments.data[f];
        const struct section *section = &unit->sections.data[fragment->section];
        for (uint32_t i = fragment->first; i < fragment->last; i++) {
            const struct statement *s = &unit->statements.data[section->statements.data[i]];
            if (s->kind != STATEMENT_INSTRUCTION || s->symbol == NONE)
                continue;
            uint32_t callee = finder->function_of[s->symbol];
            if (callee == NONE || unit->functions.data[callee].left_alone)
                continue;
            unit->functions.data[callee].left_alone = "called by an ifunc resolver";
            changed = true;
        }
    }
    return changed;
}

/* Finds symbols of ".type f, @gnu_indirect_function", and the symbols that f is set to, also
 * through others. Returns, by symbol, whether it is one. NULL: there is none. */
static bool *find_indirect(struct unit *unit) {
    bool *indirect = ARENA_ARRAY(&unit->arena, bool, unit->symbols.count), any = false;
    for (size_t i = 0; i < unit->symbols.count; i++) {
        indirect[i] = unit->symbols.data[i].indirect;
        any |= indirect[i];
    }
    for (bool changed = any; changed;) {
        changed = false;
        for (size_t i = 0; i < unit->assignments.count; i++) {
            const struct assignment *assignment = &unit->assignments.data[i];
            if (indirect[assignment->name] && !indirect[assignment->value])
                indirect[assignment->value] = changed = true;
        }
    }
    return any ? indirect : NULL;
}

static void leave_resolvers(struct finder *finder) {
    struct unit *unit = finder->unit;
    const bool *indirect = find_indirect(unit);
    if (!indirect)
        return;
    for (size_t i = 0; i < unit->functions.count; i++) {
        struct asm_function *function = &unit->functions.data[i];
        function->resolves = indirect[function->symbol];
        if (function->resolves)
            function->left_alone = "an ifunc resolver, which runs before thread-local storage";
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < unit->functions.count; i++)
            if (unit->functions.data[i].left_alone)
                changed |= spread_resolver(finder, &unit->functions.data[i]);
    }
}

static void index_statements(struct unit *unit) {
    unit->function_of = ARENA_ARRAY(&unit->arena, uint32_t, unit->statements.count);
    memset(unit->function_of, 0xff, unit->statements.count * sizeof *unit->function_of);
    for (uint32_t i = 0; i < unit->functions.count; i++) {
        const struct asm_function *function = &unit->functions.data[i];
        for (size_t f = 0; f < function->fragments.count; f++) {
            const struct fragment *fragment = &function->fragments.data[f];
            const uint32_t *list = unit->sections.data[fragment->section].statements.data;
            for (uint32_t s = fragment->first; s < fragment->last; s++)
                unit->function_of[list[s]] = i;
        }
    }
}

/* Marks labels that are entered from elsewhere: by name from another file, by a jump from another
 * function, by a call (a stub for indirect branches calls a label in itself), or by an address that
 * code takes (a jump out of a nested function, a return address that code has made). */
static void mark_outside_entries(struct unit *unit) {
    for (size_t i = 0; i < unit->symbols.count; i++) {
        struct symbol *symbol = &unit->symbols.data[i];
        symbol->outside_entry = symbol->global || symbol->aliased || symbol->landing_pad;
    }
    for (size_t i = 0; i < unit->statements.count; i++) {
        const struct statement *statement = &unit->statements.data[i];
        if (statement->kind != STATEMENT_INSTRUCTION || statement->symbol == NONE)
            continue;
        struct symbol *symbol = &unit->symbols.data[statement->symbol];
        if (symbol->statement == NONE)
            continue;
        uint32_t function = unit->function_of[i];
        if (unit->function_of[symbol->statement] != function) {
            symbol->outside_entry = true;
        } else if (!symbol->function && is_call(unit, statement)) {
            symbol->outside_entry = true;
            if (function != NONE) /* its returns may be jumps, with values in any register */
                unit->functions.data[function].compiled = false;
        }
    }
    for (size_t i = 0; i < unit->references.count; i++) {
        const struct reference *reference = &unit->references.data[i];
        if (unit->statements.data[reference->statement].kind == STATEMENT_INSTRUCTION)
            unit->symbols.data[reference->symbol].outside_entry = true;
    }
}

void find_functions(struct unit *unit) {
    struct finder finder = {
        .unit = unit,
        .open = ARENA_ARRAY(&unit->arena, struct open_fragment, unit->sections.count),
        .function_of = ARENA_ARRAY(&unit->arena, uint32_t, unit->symbols.count),
    };
    uint32_t *position = ARENA_ARRAY(&unit->arena, uint32_t, unit->sections.count);
    for (size_t i = 0; i < unit->sections.count; i++)
        finder.open[i].function = NONE;
    for (size_t i = 0; i < unit->symbols.count; i++)
        finder.function_of[i] = NONE;
    for (size_t i = 0; i < unit->statements.count; i++) {
        const struct statement *statement = &unit->statements.data[i];
        uint32_t section = statement->section, here = position[section]++;
        struct open_fragment *open = &finder.open[section];
        if (statement->kind == STATEMENT_LABEL) {
            if (!begins_function(&finder, statement, here) ||
                join_alias(&finder, statement->symbol, section, here, statement))
                continue;
            if (open->function != NONE)
                unit->functions.data[open->function].fragments.data[open->fragment].last = here;
            open_fragment(&finder, statement->symbol, section, here, statement);
        } else if (statement->kind == STATEMENT_DIRECTIVE &&
                   statement_is(unit, statement, ".size")) {
            end_function(&finder, statement, section, here);
        }
    }
    for (uint32_t i = 0; i < unit->sections.count; i++)
        close_fragment(&finder, i);
    drop_empty_pieces(unit);
    cut_all_constants(unit);
    index_statements(unit);
    mark_outside_entries(unit);
    leave_resolvers(&finder);
    for (size_t i = 0; i < unit->functions.count; i++) {
        struct asm_function *function = &unit->functions.data[i];
        for (size_t f = 0; f < function->fragments.count && !function->left_alone; f++)
            function->left_alone = find_obstacle(unit, &function->fragments.data[f]);
    }
}

void tell_subject(const struct unit *unit, uint32_t number) {
    if (number == NONE) {
        fault_subject(0, NULL, 0, 0);
        return;
    }
    const struct asm_function *function = &unit->functions.data[number];
    const struct symbol *symbol = &unit->symbols.data[function->symbol];
    fault_subject(number + 1, symbol->name, symbol->length, function->line);
}

const struct statement *fragment_label(const struct unit *unit, const struct fragment *fragment) {
    const struct section *section = &unit->sections.data[fragment->section];
    return &unit->statements.data[section->statements.data[fragment->first]];
}

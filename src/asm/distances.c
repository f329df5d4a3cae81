/* distances.c: code whose instructions must keep their distances from each other; see distances.h.
 *
 * The assembler computes each distance again for the longer code. So an expression with labels
 * stays right, unless its author assumes more: the length of the code, that a field is long enough,
 * or a return address. The following is examined in hand-written statements:
 *
 *   a difference of two labels of one section of code     all functions in between are left alone
 *   a label, or '.', with a number or an index            the function that contains it
 *   an address at a constant distance from the statement  the function (.reloc .-4, ...)
 *   a call of the code directly behind it, or of a pop    the function
 *   a load or store of instructions                       the function that contains them
 *
 * The following is understood: entries of tables, relative to the table's head or to themselves;
 * sizes of symbols, also by a local name without other uses; unwinding and debugging information in
 * fields that hold any distance. A compiler's own tables are all of these kinds, and are not
 * examined.
 *
 * Not perfect: labels in the arguments of a macro count, labels in its text do not.
 *
 * requires: find_functions   makes: asm_function.left_alone */
#include "asm/distances.h"

#include "asm/lex.h"

#include <string.h>
#include <strings.h>

/* The parts of one operand or argument. */
struct expression {
    VECTOR(uint32_t) places; /* statements of the labels that it names; for '.' its own */
    bool number;             /* it has a number that is not 0 */
    bool minus;
    bool foreign;    /* a name that this unit's text does not define */
    bool registers;  /* other than %rip */
    bool own_place;  /* %rip */
    bool brackets;   /* Intel's operand in memory */
    bool slot;       /* "@GOTPCREL": the address of a slot, or of a stub */
    bool by_address; /* "$x", "offset x": the address itself, not the content of memory */
};

struct finder {
    struct unit *unit;
    struct arena arena;
    struct map numeric;             /* by the number of a label "1:": how many there are so far */
    struct map meanings;            /* by a name with a value from .set: its index in `sets` */
    VECTOR(struct expression) sets; /* their values */
    struct map used;                /* local names that are used outside of .size */
};

static const char span_reason[] = "a distance between labels goes over it";
static const char inside_reason[] = "an address in it is given as a label and a number";
static const char here_reason[] = "an address is given as its distance from an instruction";
static const char call_reason[] = "a call is made for its return address";
static const char bytes_reason[] = "its instructions are read or written as data";

static bool puts_bytes(const struct statement *s) {
    return s->kind == STATEMENT_INSTRUCTION || s->data || s->opaque;
}

/* Returns the next statement in the section of STATEMENT, or NONE. */
static uint32_t next_in_section(const struct unit *unit, uint32_t statement) {
    uint32_t section = unit->statements.data[statement].section;
    for (uint32_t i = statement + 1; i < unit->statements.count; i++)
        if (unit->statements.data[i].section == section)
            return i;
    return NONE;
}

/* Returns the first instruction or data from STATEMENT on, or NONE. */
static uint32_t first_bytes(const struct unit *unit, uint32_t statement) {
    while (statement != NONE && !puts_bytes(&unit->statements.data[statement]))
        statement = next_in_section(unit, statement);
    return statement;
}

static bool place_is_code(const struct unit *unit, uint32_t place) {
    if (!unit->sections.data[unit->statements.data[place].section].executable)
        return false;
    uint32_t first = first_bytes(unit, place);
    return first != NONE && !unit->statements.data[first].data;
}

bool leads_to_code(const struct unit *unit, const struct symbol *symbol) {
    return symbol->statement != NONE && place_is_code(unit, symbol->statement);
}

/* ---- functions to leave alone ---- */

/* Leaves all functions alone that have an instruction between A and B. */
static void leave_between(struct unit *unit, uint32_t a, uint32_t b) {
    uint32_t section = unit->statements.data[a].section;
    for (uint32_t i = a < b ? a : b; i < (a < b ? b : a); i++) {
        const struct statement *s = &unit->statements.data[i];
        if (s->section == section && s->kind == STATEMENT_INSTRUCTION)
            leave_function_of(unit, i, span_reason);
    }
}

/* Leaves the function at PLACE alone. With IN_FRONT, also the function in front of it, if the
 * address may be there. */
static void leave_around(struct unit *unit, uint32_t place, bool in_front) {
    leave_function_of(unit, place, inside_reason);
    uint32_t section = unit->statements.data[place].section;
    for (uint32_t i = place; in_front && i-- > 0;)
        if (unit->statements.data[i].section == section && puts_bytes(&unit->statements.data[i])) {
            leave_function_of(unit, i, inside_reason);
            return;
        }
}

/* ---- expressions ---- */

static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '$' || (unsigned char)c >= 0x80;
}

static struct span word_at(const char *c, const char *end) {
    const char *start = c;
    while (c < end && is_word(*c))
        c++;
    return (struct span){start, (size_t)(c - start)};
}

static bool is_one_of(struct span name, const char *const *list) {
    for (; *list; list++)
        if (strlen(*list) == name.length && strncasecmp(*list, name.start, name.length) == 0)
            return true;
    return false;
}

/* Whether it is a word of Intel's syntax that is not part of an address. */
static bool is_size_word(struct span name) {
    static const char *const words[] = {"byte",  "word",    "dword",   "fword",   "qword",  "tbyte",
                                        "oword", "xmmword", "ymmword", "zmmword", "mmword", "ptr",
                                        "short", "near",    "far",     "bcst",    "cs",     "ds",
                                        "es",    "fs",      "gs",      "ss",      "flat",   NULL};
    return is_one_of(name, words);
}

static void add_name(struct finder *f, struct expression *e, struct span name, bool intel) {
    static const char *const own[] = {"rip", "eip", NULL}, *const address[] = {"offset", NULL};
    const struct unit *unit = f->unit;
    if (is_numeric_label(name))
        name = numeric_label(&f->arena, &f->numeric, name);
    const uint32_t *symbol = map_find(&unit->symbol_index, name.start, name.length);
    const uint32_t *meaning = map_find(&f->meanings, name.start, name.length);
    if (symbol && unit->symbols.data[*symbol].statement != NONE) {
        vector_push(&f->arena, &e->places, unit->symbols.data[*symbol].statement);
    } else if (meaning) {
        const struct expression *set = vector_at(&f->sets, *meaning);
        for (size_t i = 0; i < set->places.count; i++)
            vector_push(&f->arena, &e->places, set->places.data[i]);
        e->number |= set->number || !set->places.count;
        e->minus |= set->minus;
        e->foreign |= set->foreign;
    } else if (intel && is_one_of(name, own)) {
        e->own_place = true;
    } else if (intel && is_one_of(name, address)) {
        e->by_address = true;
    } else if (!intel || !is_size_word(name)) {
        e->foreign = true;
        e->registers |= e->brackets;
    }
}

/* Returns the end of "(%rax,%rcx,8)" at C, or C if the text is different. */
static const char *skip_registers(const char *c, const char *end, struct expression *e) {
    const char *close = memchr(c, ')', (size_t)(end - c));
    if (!close || !memchr(c, '%', (size_t)(close - c)))
        return c;
    if (memmem(c, (size_t)(close - c), "%rip", 4) || memmem(c, (size_t)(close - c), "%eip", 4))
        e->own_place = true;
    else
        e->registers = true;
    return close + 1;
}

static bool is_zero(struct span number) {
    for (size_t i = 0; i < number.length; i++)
        if (number.start[i] != '0' && number.start[i] != 'x')
            return false;
    return true;
}

static const char *read_word(struct finder *f, struct expression *e, uint32_t statement,
                             const char *c, const char *end) {
    bool intel = f->unit->statements.data[statement].intel;
    struct span word = word_at(c, end);
    if (word.start[0] == '$' && (!intel || word.length == 1)) {
        if (intel)
            vector_push(&f->arena, &e->places, statement);
        e->by_address |= !intel;
        return c + 1;
    }
    if (word.start[0] >= '0' && word.start[0] <= '9' && !is_numeric_label(word))
        e->number |= !is_zero(word);
    else if (word.length == 1 && word.start[0] == '.')
        vector_push(&f->arena, &e->places, statement);
    else
        add_name(f, e, word, intel);
    return c + word.length;
}

static struct expression read_expression(struct finder *f, uint32_t statement, struct span text) {
    struct expression e = {0};
    const char *c = text.start, *end = c + text.length;
    while (c < end) {
        const char *start = c;
        if (*c == '"') {
            const char *close = memchr(c + 1, '"', (size_t)(end - c - 1));
            c = close ? close + 1 : end;
            add_name(f, &e, unquoted((struct span){start, (size_t)(c - start)}), false);
        } else if (*c == '\'') {
            c += c + 1 < end && c[1] == '\\' ? 3 : 2;
            e.number = true;
        } else if (*c == '%') {
            c += 1 + word_at(c + 1, end).length;
        } else if (*c == '@') {
            c += 1 + word_at(c + 1, end).length;
            e.slot = true;
        } else if (is_word(*c)) {
            c = read_word(f, &e, statement, c, end);
        } else {
            e.minus |= *c == '-';
            e.brackets |= *c == '[';
            c = *c == '(' ? skip_registers(c, end, &e) : c;
            c += c == start;
        }
    }
    return e;
}

/* ---- checks of an expression ---- */

/* Whether the directive's fields hold any distance. */
static bool is_wide(const struct unit *unit, uint32_t statement) {
    static const char *const words[] = {".long",  ".int",     ".4byte",   ".quad",
                                        ".8byte", ".uleb128", ".sleb128", NULL};
    const struct statement *s = &unit->statements.data[statement];
    return s->data &&
           is_one_of((struct span){unit->text + s->start, statement_word(unit, s)}, words);
}

static bool is_for_unwinders(const struct unit *unit, uint32_t statement) {
    const struct section *section = &unit->sections.data[unit->statements.data[statement].section];
    return (section->ignored || section->exceptions) && is_wide(unit, statement);
}

/* Whether PLACE is the head of the table that contains the statement, or the entry itself. */
static bool is_table_head(const struct unit *unit, uint32_t statement, uint32_t place) {
    uint32_t section = unit->statements.data[statement].section;
    for (uint32_t i = statement;; i--) {
        const struct statement *s = &unit->statements.data[i];
        if (s->section == section && (s->kind == STATEMENT_INSTRUCTION || s->opaque || s->aligns))
            return false;
        if (i == place)
            return s->section == section;
        if (i == 0)
            return false;
    }
}

static bool is_table_entry(const struct unit *unit, uint32_t statement,
                           const struct expression *e) {
    return e->places.count == 2 && is_wide(unit, statement) && !e->number && !e->foreign &&
           is_table_head(unit, statement, e->places.data[1]);
}

static void check_differences(struct unit *unit, uint32_t statement, const struct expression *e) {
    if (e->places.count > 1 && is_table_entry(unit, statement, e))
        return;
    for (size_t i = 0; i < e->places.count; i++)
        for (size_t j = 0; j < i; j++) {
            uint32_t a = e->places.data[i], b = e->places.data[j];
            uint32_t section = unit->statements.data[a].section;
            if (section == unit->statements.data[b].section &&
                unit->sections.data[section].executable)
                leave_between(unit, a, b);
        }
}

static void check_expression(struct unit *unit, uint32_t statement, const struct expression *e) {
    if (is_for_unwinders(unit, statement))
        return;
    check_differences(unit, statement, e);
    bool inside = e->number || e->registers || (e->foreign && e->minus);
    for (size_t i = 0; inside && i < e->places.count; i++)
        if (place_is_code(unit, e->places.data[i]))
            leave_around(unit, e->places.data[i], e->minus);
}

/* ---- statements ---- */

static void note_numeric(struct finder *f, const struct symbol *symbol) {
    const char *mark = memchr(symbol->name, '\001', symbol->length);
    if (mark)
        ++*map_add(&f->arena, &f->numeric, symbol->name, (size_t)(mark - symbol->name), 0);
}

/* Adds a value of NAME. A name with several values stands for all of them. */
static void note_meaning(struct finder *f, struct span name, const struct expression *e) {
    uint32_t *index =
        map_add(&f->arena, &f->meanings, name.start, name.length, (uint32_t)f->sets.count);
    if (*index == f->sets.count)
        vector_push(&f->arena, &f->sets, (struct expression){0});
    struct expression *all = vector_at(&f->sets, *index);
    for (size_t i = 0; i < e->places.count; i++)
        vector_push(&f->arena, &all->places, e->places.data[i]);
    all->number |= e->number;
    all->minus |= e->minus;
    all->foreign |= e->foreign;
}

/* Finds NAME and VALUE of ".set x, VALUE" and "x = VALUE". Returns false for other statements. */
static bool find_assignment(struct span text, struct span *name, struct span *value) {
    static const char *const words[] = {".set", ".equ", ".equiv", ".eqv", NULL};
    struct span word = first_word(text), rest = behind(text, word);
    if (is_one_of(word, words)) {
        struct cursor cursor = cursor_over(rest);
        *name = next_argument(&cursor);
        *value = (struct span){cursor.next, (size_t)(cursor.end - cursor.next)};
        return name->length > 0;
    }
    const char *end = text.start + text.length;
    *name = word_at(text.start, end);
    const char *sign = behind(text, *name).start;
    if (!name->length || sign >= end || *sign != '=')
        return false;
    while (sign < end && *sign == '=')
        sign++;
    *value = (struct span){sign, (size_t)(end - sign)};
    return true;
}

/* Whether the name is local to this file. */
static bool is_local(struct span name) {
    return name.length > 2 && name.start[0] == '.' && name.start[1] == 'L';
}

static void check_directive(struct finder *f, uint32_t statement, struct span text) {
    const struct statement *s = &f->unit->statements.data[statement];
    struct span name, value;
    if (find_assignment(text, &name, &value)) {
        if (is_local(name) && !map_find(&f->used, name.start, name.length))
            return;
        struct expression e = read_expression(f, statement, value);
        check_expression(f->unit, statement, &e);
        return;
    }
    if (!s->data && !s->opaque && !s->aligns && !span_is(first_word(text), ".reloc"))
        return;
    struct expression all = {0};
    struct cursor cursor = cursor_over(behind(text, first_word(text)));
    for (struct span one; (one = next_argument(&cursor)).length || cursor.next < cursor.end;) {
        struct expression e = read_expression(f, statement, one);
        check_expression(f->unit, statement, &e);
        for (size_t i = 0; s->opaque && i < e.places.count; i++)
            vector_push(&f->arena, &all.places, e.places.data[i]);
    }
    check_differences(f->unit, statement, &all); /* a macro's text may make one expression of its
                                                    arguments */
}

/* Whether the instruction reads the top of the stack. */
static bool takes_top(const struct unit *unit, uint32_t statement) {
    const struct statement *s = &unit->statements.data[statement];
    const char *text = unit->text + s->start;
    size_t length = s->end - s->start;
    if (s->kind != STATEMENT_INSTRUCTION)
        return false;
    if (length > 3 && strncasecmp(text, "pop", 3) == 0)
        return true;
    const char *top = s->intel ? "[rsp]" : "(%rsp)";
    const char *found = memmem(text, length, top, strlen(top));
    return found && found > text && strchr(s->intel ? " \t," : " \t,*", found[-1]);
}

static void check_call(struct unit *unit, uint32_t statement) {
    const struct statement *s = &unit->statements.data[statement];
    uint32_t label = unit->symbols.data[s->symbol].statement;
    if (label == NONE || strncasecmp(unit->text + s->start, "call", 4) != 0)
        return;
    uint32_t next = next_in_section(unit, statement), first = first_bytes(unit, label);
    bool right_behind = next != NONE && label > statement && first_bytes(unit, next) == first;
    if (!right_behind && (first == NONE || !takes_top(unit, first)))
        return;
    leave_function_of(unit, statement, call_reason);
    leave_function_of(unit, label, call_reason);
}

/* Returns the instruction's operands. Sets ADDRESS to whether it is lea, which does not access
 * memory. */
static struct span operands_of(struct span text, bool *address) {
    static const char *const prefixes[] = {
        "lock",   "rep",   "repe",    "repz",   "repne", "repnz",  "data16",   "bnd",
        "addr32", "rex.W", "notrack", "{evex}", "{vex}", "{vex3}", "{disp32}", NULL};
    struct span word = first_word(text), rest = behind(text, word);
    while (is_one_of(word, prefixes) && rest.length) {
        word = first_word(rest);
        rest = behind(rest, word);
    }
    *address = word.length >= 3 && strncasecmp(word.start, "lea", 3) == 0;
    return rest;
}

static void check_instruction(struct finder *f, uint32_t statement, struct span text) {
    struct unit *unit = f->unit;
    const struct statement *s = &unit->statements.data[statement];
    bool address;
    struct cursor cursor = cursor_over(operands_of(text, &address));
    for (struct span one; (one = next_argument(&cursor)).length || cursor.next < cursor.end;) {
        struct expression e = read_expression(f, statement, one);
        check_expression(unit, statement, &e);
        bool memory = s->symbol == NONE && !address && !e.by_address && !e.slot;
        if (memory && e.places.count == 1 && place_is_code(unit, e.places.data[0]))
            leave_function_of(unit, e.places.data[0], bytes_reason);
        if (e.own_place && !e.places.count && !e.foreign)
            leave_function_of(unit, statement, here_reason);
    }
    if (s->symbol != NONE)
        check_call(unit, statement);
}

static void note_uses(struct finder *f, struct span text) {
    struct cursor cursor = cursor_over(text);
    for (struct span name; next_name(&cursor, &name);)
        if (is_local(name))
            map_add(&f->arena, &f->used, name.start, name.length, 1);
}

/* Records values before their uses are read: they may be behind them. */
static void note_assignment(struct finder *f, uint32_t statement, struct span text) {
    struct span name, value;
    if (!find_assignment(text, &name, &value)) {
        if (!span_is(first_word(text), ".size"))
            note_uses(f, text);
        return;
    }
    note_uses(f, value);
    struct expression e = read_expression(f, statement, value);
    note_meaning(f, name, &e);
}

static void walk(struct finder *f, bool check) {
    const struct unit *unit = f->unit;
    f->numeric = (struct map){0};
    for (uint32_t i = 0; i < unit->statements.count; i++) {
        const struct statement *s = &unit->statements.data[i];
        struct span text = {unit->text + s->start, s->end - s->start};
        if (s->kind == STATEMENT_LABEL)
            note_numeric(f, &unit->symbols.data[s->symbol]);
        else if (!is_hand_written(unit, s))
            continue;
        else if (s->kind == STATEMENT_DIRECTIVE)
            (check ? check_directive : note_assignment)(f, i, text);
        else if (check && !s->prefix)
            check_instruction(f, i, text);
        else
            note_uses(f, text);
    }
}

void leave_distances(struct unit *unit) {
    struct finder f = {.unit = unit};
    if (!has_hand_written(unit))
        return;
    walk(&f, false);
    walk(&f, true);
    arena_release(&f.arena);
}

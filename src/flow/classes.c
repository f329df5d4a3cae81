/* classes.c: classes of events that the user defines by a pattern: NAME=PATTERN.
 *
 * PATTERN is a list of alternatives, separated by '|'. Each is a shell glob of an instruction's
 * mnemonic (x86/decode.h: instruction_names), or "call:" and a glob of a callee's symbol. Mnemonics
 * and callees are separate: "mul*" does not match a call of multiply(). */
#include "flow/events.h"
#include "format/event.h"

#include <fnmatch.h>
#include <string.h>

#define CALLEE       "call:"
#define NAME_LETTERS "abcdefghijklmnopqrstuvwxyz"

/* Returns the next alternative, or NULL. */
static const char *behind_bar(const char *pattern) {
    const char *bar = strchr(pattern, '|');
    return bar ? bar + 1 : NULL;
}

/* Whether an alternative of PATTERN that begins with PREFIX matches TEXT. With an empty PREFIX,
 * alternatives that begin with CALLEE do not match. */
static bool matches(const char *pattern, const char *prefix, const char *text) {
    char alternative[EVENT_PATTERN_MAX];
    size_t skip = strlen(prefix);
    for (const char *next = pattern; next; next = behind_bar(next)) {
        size_t length = strcspn(next, "|");
        bool callee = strncmp(next, CALLEE, strlen(CALLEE)) == 0;
        if (callee != (skip > 0))
            continue;
        memcpy(alternative, next + skip, length - skip);
        alternative[length - skip] = '\0';
        if (fnmatch(alternative, text, 0) == 0)
            return true;
    }
    return false;
}

bool class_has_instruction(const char *pattern, const struct decoded *decoded) {
    const struct instruction_names names = instruction_names(decoded);
    for (uint32_t i = 0; i < names.count; i++)
        if (matches(pattern, "", names.of[i]))
            return true;
    return false;
}

bool class_has_callee(const char *pattern, const char *callee) {
    return matches(pattern, CALLEE, callee);
}

/* Returns the symbol that is called through the global offset table, as code for shared objects
 * does: call *f@GOTPCREL(%rip). The name may be in quotes: "f"@GOTPCREL. Returns NULL if there is
 * none. */
static const char *named_in_table(const struct graph *graph, const struct statement *statement) {
    static const char mark[] = "@GOTPCREL";
    const char *start = graph->unit->text + statement->start;
    const char *end = graph->unit->text + statement->end;
    const char *at = memmem(start, (size_t)(end - start), mark, strlen(mark));
    if (!at)
        return NULL;
    bool quoted = at > start && at[-1] == '"';
    const char *name = at -= quoted;
    while (name > start && !strchr(quoted ? "\"" : " \t*[(", name[-1]))
        name--;
    return arena_copy(graph->arena, name, (size_t)(at - name));
}

static bool is_elsewhere(const struct graph *graph, const struct symbol *symbol) {
    const struct unit *unit = graph->unit;
    return symbol->statement == NONE || symbol->global ||
           unit->function_of[symbol->statement] != graph->function - unit->functions.data;
}

const char *callee_of(const struct graph *graph, const struct graph_instruction *instruction) {
    const struct unit *unit = graph->unit;
    const struct statement *statement = &unit->statements.data[instruction->statement];
    uint8_t class = instruction->decoded->class;
    if (class == CLASS_CALL_INDIRECT || class == CLASS_JUMP_INDIRECT)
        return named_in_table(graph, statement);
    if (statement->symbol == NONE)
        return NULL;
    const struct symbol *symbol = &unit->symbols.data[statement->symbol];
    bool jumps = (class == CLASS_JUMP || class == CLASS_CONDITIONAL) && is_elsewhere(graph, symbol);
    return class == CLASS_CALL || jumps ? arena_copy(graph->arena, symbol->name, symbol->length)
                                        : NULL;
}

static bool is_name(const char *name) {
    return strchr(NAME_LETTERS, name[0]) && name[0] &&
           name[strspn(name, NAME_LETTERS "0123456789-")] == '\0';
}

/* Whether each alternative of PATTERN has at least one character to match, and there are no control
 * characters. No name has one. */
static bool is_pattern(const char *pattern) {
    for (const char *c = pattern; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            return false;
    for (const char *next = pattern; next; next = behind_bar(next)) {
        if (strncmp(next, CALLEE, strlen(CALLEE)) == 0)
            next += strlen(CALLEE);
        if (*next == '\0' || *next == '|')
            return false;
    }
    return true;
}

const char *add_event_class(struct event_set *set, const char *text, struct arena *arena) {
    const char *equals = strchr(text, '=');
    size_t length = equals ? (size_t)(equals - text) : strlen(text);
    struct event_kind *class = ARENA_NEW(arena, struct event_kind);
    class->name = arena_copy(arena, text, length);
    class->pattern = arena_copy(arena, equals ? equals + 1 : "", equals ? strlen(equals + 1) : 0);
    class->cell = 1 + QUIPU_EVENT_CLASSES;
    if (!is_name(class->name) || length >= EVENT_NAME_MAX)
        return "a class's name is a small letter, then small letters, digits and '-'";
    if (find_event_kind(class->name))
        return "there is a kind of this name; choose another";
    if (strlen(class->pattern) >= EVENT_PATTERN_MAX)
        return "the pattern is too long";
    if (!is_pattern(class->pattern))
        return "give a pattern such as 'mul*|imul*' or 'call:malloc', with nothing empty in it";
    for (uint32_t i = 0; i < set->count; i++) {
        const struct event_kind *other = set->kinds[i];
        if (strcmp(other->name, class->name) == 0)
            return strcmp(other->pattern, class->pattern) == 0
                       ? NULL
                       : "the class has another pattern already; choose another name";
        class->cell += other->pattern != NULL;
    }
    if (class->cell > QUIPU_EVENTS)
        return arena_print(arena, "there may be %d classes in one build", EVENT_CLASSES);
    add_event_kind(set, class);
    return NULL;
}

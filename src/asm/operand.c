/* operand.c: finds the operands of an instruction in its text; see operand.h. */
#include "asm/operand.h"

#include <string.h>
#include <strings.h>

static bool is_prefix(struct span word) {
    static const char *const names[] = {"lock",    "rep",   "repe",     "repz",
                                        "repne",   "repnz", "xacquire", "xrelease",
                                        "notrack", "bnd",   "data16",   "addr32"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (span_is(word, names[i]))
            return true;
    return word.length && word.start[0] == '{';
}

static struct span operands_of(const struct unit *unit, const struct statement *statement) {
    struct span text = {unit->text + statement->start, statement->end - statement->start};
    struct span word = first_word(text);
    while (is_prefix(word)) {
        text = behind(text, word);
        word = first_word(text);
    }
    return behind(text, word);
}

static void cut_front(struct span *span, size_t count) {
    span->start += count;
    span->length -= count;
    while (span->length && strchr(" \t", span->start[0])) {
        span->start++;
        span->length--;
    }
}

static void cut_decoration(struct span *span) {
    const char *brace = memchr(span->start, '{', span->length);
    if (brace)
        span->length = (size_t)(brace - span->start);
    while (span->length && strchr(" \t", span->start[span->length - 1]))
        span->length--;
}

/* %fs:x@tpoff, fs:[rax] */
static void cut_segment(struct span *span) {
    const char *colon = memchr(span->start, ':', span->length);
    if (colon)
        cut_front(span, (size_t)(colon - span->start) + 1);
}

static bool is_memory_in_att(struct span argument) {
    if (!argument.length || argument.start[0] == '$' || argument.start[0] == '{')
        return false;
    return argument.start[0] != '%' || memchr(argument.start, ':', argument.length) != NULL;
}

/* Returns the offset behind "PTR" of "DWORD PTR", or 0. */
static size_t behind_size(struct span argument) {
    for (size_t i = 0; i + 4 <= argument.length; i++)
        if (strncasecmp(argument.start + i, "ptr", 3) == 0 && strchr(" \t[", argument.start[i + 3]))
            return i + 3;
    return 0;
}

bool find_memory_operand(const struct unit *unit, const struct statement *statement,
                         struct span *operand) {
    struct span text = operands_of(unit, statement);
    struct cursor cursor = cursor_over(text);
    for (;;) {
        struct span argument = next_argument(&cursor);
        if (!argument.length && cursor.next >= cursor.end)
            return false;
        size_t size = statement->intel ? behind_size(argument) : 0;
        bool found = statement->intel ? size || memchr(argument.start, '[', argument.length) != NULL
                                      : is_memory_in_att(argument);
        if (!found)
            continue;
        cut_front(&argument, size);
        cut_segment(&argument);
        cut_decoration(&argument);
        *operand = argument;
        return argument.length > 0;
    }
}

/* "(8+8)(%rsp)": the last parentheses, at the end of the operand, contain the registers. */
struct span displacement_of(struct span operand) {
    const char *c = operand.start + operand.length;
    unsigned depth = 0;
    while (c > operand.start) {
        c--;
        depth += *c == ')';
        depth -= *c == '(' && depth;
        if (!depth)
            break;
    }
    size_t length = (size_t)(c - operand.start);
    bool registers =
        length < operand.length && *c == '(' && memchr(c, '%', operand.length - length);
    return (struct span){operand.start, registers ? length : operand.length};
}

bool is_number_operand(struct span operand) {
    struct span displacement = displacement_of(operand);
    for (size_t i = 0; i < displacement.length; i++)
        if (!strchr("0123456789-+ ", displacement.start[i]))
            return false;
    return displacement.length < operand.length;
}

bool find_immediate_operand(const struct unit *unit, const struct statement *statement,
                            struct span *operand) {
    struct cursor cursor = cursor_over(operands_of(unit, statement));
    struct span argument = next_argument(&cursor);
    if (statement->intel || argument.length < 2 || argument.start[0] != '$')
        return false;
    cut_front(&argument, 1);
    *operand = argument;
    return true;
}

struct span find_indirect_operand(const struct unit *unit, const struct statement *statement) {
    const char *start = unit->text + statement->start, *end = unit->text + statement->end;
    const char *star = statement->intel ? NULL : memchr(start, '*', (size_t)(end - start));
    if (!star)
        return (struct span){start, 0};
    return (struct span){star + 1, (size_t)(end - star - 1)};
}

struct span slot_symbol(struct span operand) {
    static const char slot[] = "@GOTPCREL(%rip)";
    const char *at = operand.length ? memchr(operand.start, '@', operand.length) : NULL;
    size_t length = at ? (size_t)(at - operand.start) : 0;
    bool is_slot =
        at && operand.length - length >= sizeof slot - 1 && memcmp(at, slot, sizeof slot - 1) == 0;
    return (struct span){operand.start, is_slot ? length : 0};
}

struct span find_callee_name(const struct unit *unit, const struct statement *statement) {
    if (statement->symbol == NONE)
        return slot_symbol(find_indirect_operand(unit, statement));
    const struct symbol *symbol = &unit->symbols.data[statement->symbol];
    return (struct span){symbol->name, symbol->length};
}

/* respell.c: instructions in numbers, in plain words; see respell.h.
 *
 *     lea 0(%rip), %r14    ->    lea .LQhere0(%rip), %r14; .LQhere0:
 *     .long 0x9066A4F3     ->    rep movsb; data16 nop
 *
 * Hand-written loops (GNU MP's mul_basecase) take the address of the next instruction so, and come
 * back to it by `jmp *%r14`.  It means the same as with a label, and the label says where a block
 * begins.  Any other distance counts the bytes of instructions, and is left alone (distances.c).
 *
 * OpenSSL's has a string instruction and a no-operation as one number, for assemblers that do not
 * know them.  The bytes are the same, so it is no matter if it is data.
 *
 * Not perfect: for the first, Intel's syntax is not looked at. */
#include "asm/respell.h"

#include "asm/lex.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

static bool has_text(const struct buffer *text, const char *word) {
    return memmem(text->data, text->count, word, strlen(word)) != NULL;
}

/* Whether the statement is such an instruction; sets OPERAND to what tells the address. */
static bool tells_next(struct span text, struct span *operand) {
    struct span word = first_word(text);
    if (word.length < 3 || word.length > 4 || strncasecmp(word.start, "leaq", word.length) != 0)
        return false;
    struct cursor cursor = cursor_over(behind(text, word));
    *operand = next_argument(&cursor);
    struct span target = next_argument(&cursor);
    return (span_is(*operand, "0(%rip)") || span_is(*operand, "(%rip)")) && target.length > 1 &&
           target.start[0] == '%';
}

/* Whether some operand may tell so: most text has none. */
static bool may_tell_next(const struct buffer *text) {
    static const char base[] = "(%rip)";
    const char *at = text->data, *end = text->data + text->count;
    while ((at = memmem(at, (size_t)(end - at), base, strlen(base)))) {
        const char *first = at > text->data && at[-1] == '0' ? at - 1 : at;
        if (first > text->data && (first[-1] == ' ' || first[-1] == '\t'))
            return true;
        at += strlen(base);
    }
    return false;
}

/* The instructions that the statement has as one number, or NULL. */
static const char *find_coded(struct span text) {
    static const struct {
        const char *number, *instructions;
    } table[] = {
        {"0x9066a4f3", "rep movsb; data16 nop"}, {"0x9066aaf3", "rep stosb; data16 nop"},
        {"0xa4f39066", "data16 nop; rep movsb"}, {"0xaaf39066", "data16 nop; rep stosb"},
        {"0x90a548f3", "rep movsq; nop"},        {"0x90ab48f3", "rep stosq; nop"},
    };
    struct span word = first_word(text), number = behind(text, word);
    if (!span_is(word, ".long") && !span_is(word, ".int") && !span_is(word, ".4byte"))
        return NULL;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (number.length == strlen(table[i].number) &&
            strncasecmp(number.start, table[i].number, number.length) == 0)
            return table[i].instructions;
    return NULL;
}

/* Whether some number may be one. */
static bool may_have_coded(const struct buffer *text) {
    static const char *const parts[] = {"0x9066", "0X9066", "F39066", "f39066", "48f3", "48F3"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (has_text(text, parts[i]))
            return true;
    return false;
}

bool respell(const struct buffer *text, struct buffer *out) {
    static const char *const repeats[] = {".macro", ".rept", ".irp", ".MACRO", ".REPT", ".IRP"};
    if (!may_tell_next(text) && !may_have_coded(text))
        return false;
    for (size_t i = 0; i < sizeof repeats / sizeof *repeats; i++)
        if (has_text(text, repeats[i]))
            return false;
    struct lexer lexer = lexer_over(text->data, text->count);
    struct token token;
    const char *done = text->data;
    uint32_t labels = 0;
    while (next_token(&lexer, &token)) {
        if (token.label || token.marker)
            continue;
        struct span operand;
        const char *end = token.text.start + token.text.length, *coded = find_coded(token.text);
        bool here = tells_next(token.text, &operand);
        if (!coded && !here)
            continue;
        const char *from = coded ? token.text.start : operand.start;
        buffer_add(out, done, (size_t)(from - done));
        if (coded) {
            buffer_text(out, coded);
        } else {
            const char *base = strchr(from, '(');
            buffer_print(out, ".LQhere%u%.*s; .LQhere%u:", labels, (int)(end - base), base, labels);
            labels++;
        }
        done = end;
    }
    if (done > text->data)
        buffer_add(out, done, (size_t)(text->data + text->count - done));
    return done > text->data;
}

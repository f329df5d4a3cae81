/* respell.c: rewrites hand-written assembly that uses numbers or capital letters; see respell.h.
 *
 *     lea 0(%rip), %r14    ->    lea .LQhere0(%rip), %r14; .LQhere0:
 *     .long 0x9066A4F3     ->    rep movsb; data16 nop
 *     .BYTE 1; MOV %RAX, x ->    .byte 1; MOV %rax, x
 *
 * Hand-written loops (GNU MP's mul_basecase) take the address of the next instruction so, and
 * return to it by `jmp *%r14`. A label means the same, and marks the begin of a block. Any other
 * distance counts bytes of instructions, and is left alone (distances.c).
 *
 * OpenSSL has a string instruction and a no-operation as one number, for assemblers that do not
 * know them. The bytes are the same, so it does not matter if it is data.
 *
 * Capital and small letters in directives and registers are the same to the assembler. All other
 * code of quipu expects small letters.
 *
 * Not perfect: Intel syntax is ignored in the first case. */
#include "asm/respell.h"

#include "asm/lex.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

static bool has_text(const struct buffer *text, const char *word) {
    return memmem(text->data, text->count, word, strlen(word)) != NULL;
}

/* Whether the statement takes the address of the next instruction. Sets OPERAND to the operand with
 * this address. */
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

/* Whether an operand may do so. Most texts have none. */
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

/* Returns the instructions that the statement has as one number, or NULL. */
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

/* Whether a number may have such instructions. */
static bool may_have_coded(const struct buffer *text) {
    static const char *const parts[] = {"0x9066", "0X9066", "F39066", "f39066", "48f3", "48F3"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (has_text(text, parts[i]))
            return true;
    return false;
}

/* ---- capital letters ---- */

static bool is_capital(char c) {
    return c >= 'A' && c <= 'Z';
}

static bool is_letter(char c) {
    return is_capital(c) || (c >= 'a' && c <= 'z');
}

/* Whether a word may be a directive or a register in capital letters. Compilers' labels (.LC0,
 * .Lfunc_begin0) have digits. */
static bool may_have_capitals(const struct buffer *text) {
    const char *at = text->data, *end = text->data + text->count;
    for (; at + 2 < end; at++) {
        if ((*at != '.' && *at != '%') || !is_capital(at[1]))
            continue;
        const char *c = at + 1;
        while (c < end && is_letter(*c))
            c++;
        if (*at == '%' ? c - at > 2 || (c < end && *c >= '0' && *c <= '9')
                       : c == end || strchr(" \t\n;", *c))
            return true;
    }
    return false;
}

static void lower(char *at, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (is_capital(at[i]))
            at[i] |= 0x20;
}

static bool is_word(char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '$';
}

/* Lowers the letters behind each '%' in an instruction, unless it is a division. */
static void lower_registers(char *at, const char *end) {
    char before = ' ';
    for (bool inside = false; at < end && *at != '"'; before = *at++) {
        inside = *at == '%' ? !is_word(before) && before != ')' : inside && is_word(*at);
        if (inside)
            lower(at, 1);
    }
}

static bool lower_words(const struct buffer *text, struct buffer *out) {
    if (!may_have_capitals(text))
        return false;
    buffer_add(out, text->data, text->count);
    struct lexer lexer = lexer_over(out->data, out->count);
    struct token token;
    while (next_token(&lexer, &token)) {
        if (token.label || token.marker)
            continue;
        char *start = out->data + (token.text.start - out->data);
        struct span word = first_word(token.text);
        if (*start == '.' && !is_assignment(token.text))
            lower(start, word.length);
        else
            lower_registers(start, start + token.text.length);
    }
    return true;
}

static bool respell_numbers(const struct buffer *text, struct buffer *out) {
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

bool respell(const struct buffer *text, struct buffer *out) {
    struct buffer small = {0};
    bool lowered = lower_words(text, &small);
    bool numbers = respell_numbers(lowered ? &small : text, out);
    if (lowered && !numbers)
        buffer_add(out, small.data, small.count);
    buffer_release(&small);
    return lowered || numbers;
}

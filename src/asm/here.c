/* here.c: addresses of the instruction behind; see here.h.
 *
 *     lea 0(%rip), %r14    ->    lea .LQhere0(%rip), %r14; .LQhere0:
 *
 * Hand-written loops (GNU MP's mul_basecase) take the address of the next instruction so, and come
 * back to it by `jmp *%r14`.  It means the same as with a label, and the label says where a block
 * begins.  Any other distance counts the bytes of instructions, and is left alone (distances.c).
 *
 * Not perfect: Intel's syntax is not looked at. */
#include "asm/here.h"

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

bool label_next_instructions(const struct buffer *text, struct buffer *out) {
    static const char *const repeats[] = {".macro", ".rept", ".irp", ".MACRO", ".REPT", ".IRP"};
    if (!may_tell_next(text))
        return false;
    for (size_t i = 0; i < sizeof repeats / sizeof *repeats; i++)
        if (has_text(text, repeats[i]))
            return false;
    struct lexer lexer = lexer_over(text->data, text->count);
    struct token token;
    const char *done = text->data;
    uint32_t count = 0;
    while (next_token(&lexer, &token)) {
        struct span operand;
        if (token.label || token.marker || !tells_next(token.text, &operand))
            continue;
        const char *end = token.text.start + token.text.length,
                   *behind = strchr(operand.start, '(');
        buffer_add(out, done, (size_t)(operand.start - done));
        buffer_print(out, ".LQhere%u%.*s; .LQhere%u:", count, (int)(end - behind), behind, count);
        done = end;
        count++;
    }
    if (count)
        buffer_add(out, done, (size_t)(text->data + text->count - done));
    return count;
}

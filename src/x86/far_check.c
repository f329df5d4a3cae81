/* far_check.c: whether a loop stays far from all regions; see far_check.h.
 *
 * If A - HIGHEST + FAR has no carry, A is at or above HIGHEST, or more than FAR below it.
 * Downwards, B is the last byte that may be written. As an unsigned number, B - LOWEST is at least
 * FAR if B is below LOWEST or far above it. */
#include "x86/far_check.h"

#include "format/watch.h"
#include "x86/access.h"

static void write_address(struct buffer *out, const struct far_check *check, int64_t more) {
    if (check->symbol.length)
        buffer_print(out, more ? "leaq %.*s%+lld" : "leaq %.*s", (int)check->symbol.length,
                     check->symbol.start, (long long)more);
    else
        buffer_print(out, "leaq %lld", (long long)(check->displacement + more));
    if (check->base != NO_REGISTER || check->index != NO_REGISTER) {
        buffer_text(out, "(");
        if (check->base != NO_REGISTER)
            buffer_print(out, "%%%s", register_name(check->base));
        if (check->index != NO_REGISTER)
            buffer_print(out, ",%%%s,%u", register_name(check->index), check->scale);
        buffer_text(out, ")");
    }
    buffer_text(out, ", %r11; ");
}

void write_far_check(struct buffer *out, const struct far_check *check, const char *near) {
    if (check->direction == FAR_DOWN) {
        write_address(out, check, QUIPU_WATCH_SPAN - 1);
        buffer_print(out, "subq 0x%x, %%r11; cmpq 0x%x, %%r11; jb %s; ", QUIPU_WATCH_LOWEST,
                     QUIPU_WATCH_FAR, near);
        return;
    }
    write_address(out, check, 0);
    buffer_print(out, "subq 0x%x, %%r11; addq 0x%x, %%r11; jc %s; ",
                 check->direction == FAR_UP ? QUIPU_WATCH_HIGHEST : QUIPU_WATCH_HIGHEST_WIDE,
                 QUIPU_WATCH_FAR, near);
}

void write_far_step(struct buffer *out, uint8_t reg, const char *near) {
    buffer_print(out, "leaq -1(%%%s), %%r11; cmpq $%d, %%r11; jae %s; ", register_name(reg),
                 FAR_STEP_MAX, near);
}

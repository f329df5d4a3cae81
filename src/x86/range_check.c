/* range_check.c: a look at the shadow of a range; see range_check.h.
 *
 * A loop whose counter goes from I to the limit L by steps of S has at most (L - I) / S + 2 turns,
 * whatever comes first in a turn, and whether the limit itself is passed.  Its stores go as far as
 * that many strides.  Where that is more than they write, what is watched there costs time only.
 *
 * That holds if the counter does not wrap around: a limit that has to be hit must be a number of
 * steps away, and one that has to be passed must have room for a step behind it.  If I is beyond L
 * already, there is one turn.
 *
 * No instruction here looks like a check of a store (watch_bitmap.c).
 *
 * Where 32 bits of the counter are extended to an address's 64, all of its values must be what 64
 * bits would have counted to.
 *
 * In the shadow eight granules are looked at at a time, those that are left one by one. */
#include "x86/range_check.h"

#include "data/watch_format.h"
#include "x86/store_check.h"

#include <stddef.h>
#include <stdio.h>

enum {
    STRIDE_MAX = 512, /* bytes: further apart, checks cost less than a look at all between */
    DISTANCE_MAX = 0x40000000, /* that a counter may go */
    GRANULES_MAX = 1024,       /* where a loop may end before */
    ADDRESS_BITS = 47,
    NAME_SIZE = 8,
    RED_ZONE = 128,
};

#define NO_SHADOW (QUIPU_WATCH_HOME + offsetof(struct quipu_watch_home, no_shadow))

/* Of a register, the name for 64 or 32 bits. */
struct name {
    char text[NAME_SIZE];
};

static struct name name_of(uint8_t reg, bool wide) {
    struct name name;
    const char *whole = register_name(reg);
    if (wide)
        snprintf(name.text, sizeof name.text, "%%%s", whole);
    else if (reg < 8)
        snprintf(name.text, sizeof name.text, "%%e%s", whole + 1);
    else
        snprintf(name.text, sizeof name.text, "%%%sd", whole);
    return name;
}

static uint64_t magnitude(int64_t number) {
    return number < 0 ? -(uint64_t)number : (uint64_t)number;
}

static bool is_power_of_2(uint64_t number) {
    return number && !(number & (number - 1));
}

bool is_known_distance(const struct loop_distance *distance, int64_t stride) {
    uint64_t step = magnitude(distance->step), bytes = magnitude(stride);
    if (bytes > STRIDE_MAX)
        return false;
    if (distance->step_register != NO_REGISTER)
        return true;
    return step <= DISTANCE_MAX && (bytes % step == 0 || is_power_of_2(step));
}

/* What one distance is written with. */
struct writer {
    struct buffer *out;
    const struct loop_distance *distance;
    const char *dirty;
    char suffix; /* of instructions of the counter's width */
    struct name counter, e, t, wide_e, wide_t, narrow_e, narrow_t;
};

static void write_limit(const struct writer *w, const char *to) {
    const struct loop_distance *d = w->distance;
    if (d->limit != NO_REGISTER)
        buffer_print(w->out, "mov%c %s, %s; ", w->suffix, name_of(d->limit, d->wide).text, to);
    else if (d->number.length)
        buffer_print(w->out, "mov%c $%.*s, %s; ", w->suffix, (int)d->number.length, d->number.start,
                     to);
    else
        buffer_print(w->out, "mov%c $0, %s; ", w->suffix, to);
}

static void write_wrap(const struct writer *w) {
    buffer_print(w->out, "%s %s; ", w->distance->is_signed ? "jo" : "jc", w->dirty);
}

/* What is left of L - I, or I - L where the counter goes down, to E; of a limit that has to be
 * passed a step more.  Steps that are not constant are in T. */
static void write_difference(const struct writer *w) {
    const struct loop_distance *d = w->distance;
    long long step = (long long)magnitude(d->step);
    bool down = d->step_register == NO_REGISTER && d->step < 0;
    const char *first = down ? w->t.text : w->e.text;
    write_limit(w, first);
    if (!d->exact && d->step_register != NO_REGISTER)
        buffer_print(w->out, "add%c %s, %s; ", w->suffix, w->t.text, first);
    else if (!d->exact)
        buffer_print(w->out, "%s%c $%lld, %s; ", down ? "sub" : "add", w->suffix, step, first);
    if (!d->exact)
        write_wrap(w);
    if (down)
        buffer_print(w->out, "mov%c %s, %s; sub%c %s, %s; ", w->suffix, w->counter.text, w->e.text,
                     w->suffix, w->t.text, w->e.text);
    else
        buffer_print(w->out, "sub%c %s, %s; ", w->suffix, w->counter.text, w->e.text);
}

/* Passes only multiples of STEP in E.  E times the inverse of an odd number, modulo 2^64, is the
 * quotient where that has no rest, and else at least 2^64 divided by it (Granlund and Montgomery
 * 1994). */
static void write_division(const struct writer *w, uint64_t step) {
    int shift = __builtin_ctzll(step);
    uint64_t odd = step >> shift, low = ((uint64_t)1 << shift) - 1, inverse = odd;
    for (int i = 0; i < 5; i++)
        inverse *= 2 - odd * inverse;
    buffer_print(w->out, "movabsq $0x%llx, %s; imulq %s, %s; ", (unsigned long long)inverse,
                 w->wide_t.text, w->wide_e.text, w->wide_t.text);
    if (low)
        buffer_print(w->out, "testl $%llu, %s; jne %s; ", (unsigned long long)low, w->narrow_t.text,
                     w->dirty);
    buffer_print(w->out, "shrq $31, %s; jne %s; ", w->wide_t.text, w->dirty);
}

/* How far the counter goes, at most, to E. */
static void write_distance(const struct writer *w) {
    const struct loop_distance *d = w->distance;
    long long step = (long long)magnitude(d->step);
    if (d->step_register != NO_REGISTER)
        buffer_print(w->out, "leaq -1(%%%s), %s; cmpq $%d, %s; jae %s; leaq 1(%s), %s; ",
                     register_name(d->step_register), w->wide_t.text, STRIDE_MAX, w->wide_t.text,
                     w->dirty, w->wide_t.text, w->wide_t.text);
    write_difference(w);
    if (d->exact && is_power_of_2((uint64_t)step) && step > 1)
        buffer_print(w->out, "testl $%lld, %s; jne %s; ", step - 1, w->narrow_e.text, w->dirty);
    if (d->exact && !is_power_of_2((uint64_t)step))
        write_division(w, (uint64_t)step);
    if (d->exact)
        buffer_print(w->out, "leaq -1(%s), %s; cmpq $0x%x, %s; jae %s; leaq %lld(%s), %s; ",
                     w->wide_e.text, w->wide_t.text, DISTANCE_MAX, w->wide_t.text, w->dirty,
                     2 * step, w->wide_e.text, w->wide_e.text);
    else
        buffer_print(w->out, "cmpq $0x%x, %s; jae %s; ", DISTANCE_MAX, w->wide_e.text, w->dirty);
    if (!d->exact && d->step_register != NO_REGISTER)
        buffer_print(w->out, "addq %s, %s; ", w->wide_t.text, w->wide_e.text);
    else if (!d->exact)
        buffer_print(w->out, "addq $%lld, %s; ", step, w->wide_e.text);
}

/* The bytes that are a distance, in E. */
static void write_bytes(const struct writer *w, int64_t stride) {
    const struct loop_distance *d = w->distance;
    uint64_t step = d->step_register != NO_REGISTER ? 1 : magnitude(d->step);
    uint64_t bytes = magnitude(stride);
    bool whole = bytes % step == 0;
    uint64_t factor = whole ? bytes / step : bytes;
    if (factor != 1)
        buffer_print(w->out, "imulq $%llu, %s, %s; ", (unsigned long long)factor, w->wide_e.text,
                     w->wide_e.text);
    if (!whole)
        buffer_print(w->out, "shrq $%d, %s; ", __builtin_ctzll(step), w->wide_e.text);
}

/* Passes nothing where the counter's 32 bits wrap around on the way of E. */
static void write_narrow(const struct writer *w, const struct loop_range *range) {
    const char *e = w->wide_e.text, *t = w->wide_t.text;
    buffer_print(w->out, "movq %%%s, %%r11; %s %s, %%r11; ", register_name(range->narrow),
                 range->stride < 0 ? "subq" : "addq", e);
    if (range->is_signed)
        buffer_print(w->out, "movslq %%r11d, %s; cmpq %%r11, %s; jne %s; ", t, t, w->dirty);
    else
        buffer_print(w->out, "shrq $32, %%r11; jne %s; ", w->dirty);
}

/* Looks at the granule of %r11. */
static void write_look_once(const struct writer *w) {
    buffer_print(w->out,
                 "shrq $%d, %%r11; movq %%r11, %s; shrq $%d, %s; jne %s; testb $255, 0x%x(%%r11); "
                 "jne %s; ",
                 QUIPU_WATCH_GRANULE_BITS, w->wide_t.text, ADDRESS_BITS - QUIPU_WATCH_GRANULE_BITS,
                 w->wide_t.text, w->dirty, QUIPU_WATCH_SHADOW, w->dirty);
}

/* Looks at granules from %r11 to E. */
static void write_look(const struct writer *w, bool limited, uint32_t label) {
    const char *e = w->wide_e.text, *t = w->wide_t.text;
    buffer_print(w->out,
                 "shrq $%d, %%r11; shrq $%d, %s; movq %s, %s; orq %%r11, %s; shrq $%d, %s; "
                 "jne %s; ",
                 QUIPU_WATCH_GRANULE_BITS, QUIPU_WATCH_GRANULE_BITS, e, e, t, t,
                 ADDRESS_BITS - QUIPU_WATCH_GRANULE_BITS, t, w->dirty);
    if (limited)
        buffer_print(w->out, "movq %s, %s; subq %%r11, %s; cmpq $%d, %s; jae %s; ", e, t, t,
                     GRANULES_MAX, t, w->dirty);
    buffer_print(w->out,
                 "subq $7, %s; jmp .LQlx%u; .LQlw%u: cmpq $0, 0x%x(%%r11); jne %s; "
                 "addq $8, %%r11; .LQlx%u: cmpq %s, %%r11; jle .LQlw%u; "
                 "addq $7, %s; jmp .LQlz%u; .LQly%u: testb $255, 0x%x(%%r11); jne %s; "
                 "addq $1, %%r11; .LQlz%u: cmpq %s, %%r11; jle .LQly%u; ",
                 e, label, label, QUIPU_WATCH_SHADOW, w->dirty, label, e, label, e, label, label,
                 QUIPU_WATCH_SHADOW, w->dirty, label, e, label);
}

/* How far the stack pointer is down meanwhile. */
static int bytes_kept(const struct scratch_registers *scratch) {
    int count = scratch->kept[0] + scratch->kept[1];
    return count ? RED_ZONE + 8 * count : 0;
}

void write_scratch_begin(struct buffer *out, const struct scratch_registers *scratch,
                         const struct frame_row *frame) {
    if (!bytes_kept(scratch))
        return;
    write_stack_move(out, frame, -RED_ZONE);
    for (int i = 0; i < 2; i++)
        if (scratch->kept[i]) {
            buffer_print(out, "pushq %%%s", register_name(scratch->of[i]));
            write_adjust(out, frame, 8);
            buffer_text(out, "; ");
        }
}

void write_scratch_end(struct buffer *out, const struct scratch_registers *scratch,
                       const struct frame_row *frame) {
    if (!bytes_kept(scratch))
        return;
    for (int i = 2; i-- > 0;)
        if (scratch->kept[i]) {
            buffer_print(out, "popq %%%s", register_name(scratch->of[i]));
            write_adjust(out, frame, -8);
            buffer_text(out, "; ");
        }
    write_stack_move(out, frame, RED_ZONE);
}

void write_scratch_frame(struct buffer *out, const struct scratch_registers *scratch,
                         const struct frame_row *frame) {
    if (!bytes_kept(scratch))
        return;
    write_adjust(out, frame, bytes_kept(scratch));
    buffer_text(out, "; ");
}

void write_range_check(struct buffer *out, const struct loop_range *range,
                       const struct loop_distance *distance,
                       const struct scratch_registers *scratch, const char *dirty, uint32_t label) {
    struct writer w = {.out = out,
                       .distance = distance,
                       .dirty = dirty,
                       .suffix = distance->wide ? 'q' : 'l',
                       .counter = name_of(distance->counter, distance->wide),
                       .e = name_of(scratch->of[0], distance->wide),
                       .t = name_of(scratch->of[1], distance->wide),
                       .wide_e = name_of(scratch->of[0], true),
                       .wide_t = name_of(scratch->of[1], true),
                       .narrow_e = name_of(scratch->of[0], false),
                       .narrow_t = name_of(scratch->of[1], false)};
    if (range->copy.length)
        buffer_print(out, "%.*s; ", (int)range->copy.length, range->copy.start);
    if (range->stride) {
        write_distance(&w);
        if (range->is_narrow)
            write_narrow(&w, range);
        write_bytes(&w, range->stride);
    }
    buffer_text(out, "leaq ");
    if (range->by_stack && bytes_kept(scratch))
        buffer_print(out, range->operand.start[0] == '(' ? "%d" : "%d+", bytes_kept(scratch));
    buffer_print(out, "%.*s, %%r11; ", (int)range->operand.length, range->operand.start);
    if (!range->stride && !range->extra) {
        write_look_once(&w);
        return;
    }
    if (range->stride < 0)
        buffer_print(out, "subq %s, %%r11; ", w.wide_e.text);
    if (range->stride)
        buffer_print(out, "leaq %lld(%%r11,%s), %s; ", (long long)range->extra, w.wide_e.text,
                     w.wide_e.text);
    else
        buffer_print(out, "leaq %lld(%%r11), %s; ", (long long)range->extra, w.wide_e.text);
    write_look(&w, range->stride && !distance->one_way_out, label);
}

void write_shadow_check(struct buffer *out, const char *dirty) {
    buffer_print(out, "cmpl $0, 0x%x; jne %s; ", (unsigned)NO_SHADOW, dirty);
}

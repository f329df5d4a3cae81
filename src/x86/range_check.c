/* range_check.c: tests of the shadow of a range; see range_check.h.
 *
 * A loop's counter steps from I to the limit L by S. Then the loop has at most (L - I) / S + 2
 * turns, whatever the order within a turn is, and whether or not the counter passes the limit. Its
 * stores reach as far as that many strides. If they write less, a region in the rest only costs
 * time.
 *
 * This is true if the counter does not wrap around. If the counter must equal the limit, that must
 * be a whole number of steps away. If the counter must pass it, one more step must fit behind it.
 * If I is already beyond L, there is one turn.
 *
 * No instruction here looks like the check of a store (runtime/watch/bitmap.c).
 *
 * If 32 bits of the counter are extended to 64 for an address, all its values must equal those that
 * 64 bits would have.
 *
 * The code tests sixteen granules of the shadow at a time. No branch depends on the number of
 * granules that are left: short ranges of any length are common, and a mispredicted jump takes
 * longer than all the rest. Only if one of sixteen is marked, it tests them one by one.
 *
 * Ranges of the same stride have the same length, which stays in E. E and T are the scratch
 * registers. */
#include "x86/range_check.h"

#include "asm/operand.h"
#include "format/watch.h"
#include "x86/store_check.h"

#include <stddef.h>
#include <stdio.h>

enum {
    STRIDE_MAX =
        /* bytes; with longer strides, checks cost less than tests of all granules between */
        512,
    DISTANCE_MAX = 0x40000000, /* of a counter */
    LENGTH_MAX = 0x10000,      /* bytes, if the loop may end earlier */
    LOOK = 16,                 /* granules that are tested at a time */
    LOOK_BYTES = LOOK << QUIPU_WATCH_GRANULE_BITS,
    LENGTH_SEEN =
        /* bytes that one test covers, wherever they begin */
        LOOK_BYTES - QUIPU_WATCH_SPAN,
    NAME_SIZE = 8,
};

#define NO_SHADOW (QUIPU_WATCH_AREA + offsetof(struct quipu_watch_area, no_shadow))

/* The name of a register, for 64 or 32 bits. */
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

/* Common to the code for one distance. */
struct writer {
    struct buffer *out;
    const struct loop_distance *distance;
    const char *dirty;
    char suffix; /* of instructions that have the counter's width */
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

/* Sets E to L - I, or to I - L if the counter decreases, plus one step if the limit must be passed.
 * A step that is not constant is in T. */
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

/* Jumps to `dirty` unless E is a multiple of STEP. The product of E and the inverse of an odd
 * number, modulo 2^64, is the quotient if there is no remainder, and otherwise at least 2^64
 * divided by that number (Granlund and Montgomery 1994). */
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

/* Sets E to the largest distance that the counter may step. */
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
        buffer_print(w->out, "leaq -1(%s), %%r11; cmpq $0x%x, %%r11; jae %s; leaq %lld(%s), %s; ",
                     w->wide_e.text, DISTANCE_MAX, w->dirty, 2 * step, w->wide_e.text,
                     w->wide_e.text);
    else
        buffer_print(w->out, "cmpq $0x%x, %s; jae %s; ", DISTANCE_MAX, w->wide_e.text, w->dirty);
    if (!d->exact && d->step_register != NO_REGISTER)
        buffer_print(w->out, "addq %s, %s; ", w->wide_t.text, w->wide_e.text);
    else if (!d->exact)
        buffer_print(w->out, "addq $%lld, %s; ", step, w->wide_e.text);
}

/* Converts the distance in E to bytes. */
static void write_bytes(const struct writer *w, int64_t stride) {
    const struct loop_distance *d = w->distance;
    uint64_t step = d->step_register != NO_REGISTER ? 1 : magnitude(d->step);
    uint64_t bytes = magnitude(stride);
    bool whole = bytes % step == 0;
    uint64_t factor = whole ? bytes / step : bytes;
    if (factor != 1)
        buffer_print(w->out, is_power_of_2(factor) ? "shlq $%llu, %s; " : "imulq $%llu, %s; ",
                     is_power_of_2(factor) ? (unsigned long long)__builtin_ctzll(factor)
                                           : (unsigned long long)factor,
                     w->wide_e.text);
    if (!whole)
        buffer_print(w->out, "shrq $%d, %s; ", __builtin_ctzll(step), w->wide_e.text);
}

/* Jumps to `dirty` if the counter's 32 bits wrap around within the distance in E. */
static void write_narrow(const struct writer *w, const struct loop_range *range) {
    const char *e = w->wide_e.text, *t = w->wide_t.text;
    buffer_print(w->out, "movq %%%s, %%r11; %s %s, %%r11; ", register_name(range->narrow),
                 range->stride < 0 ? "subq" : "addq", e);
    if (range->is_signed)
        buffer_print(w->out, "movslq %%r11d, %s; cmpq %%r11, %s; jne %s; ", t, t, w->dirty);
    else
        buffer_print(w->out, "shrq $32, %%r11; jne %s; ", w->dirty);
}

/* Tests the granule of the address in %r11. */
static void write_look_once(const struct writer *w) {
    buffer_print(w->out,
                 "shrq $%d, %%r11; movq %%r11, %s; shrq $%d, %s; jne %s; testb $255, 0x%x(%%r11); "
                 "jne %s; ",
                 QUIPU_WATCH_GRANULE_BITS, w->wide_t.text,
                 QUIPU_WATCH_ADDRESS_BITS - QUIPU_WATCH_GRANULE_BITS, w->wide_t.text, w->dirty,
                 QUIPU_WATCH_SHADOW, w->dirty);
}

/* Sets %r11 to the operand's address. */
static void write_start(const struct writer *w, const struct loop_range *range, int raised) {
    buffer_text(w->out, "leaq ");
    if (range->by_stack && raised)
        buffer_print(w->out, displacement_of(range->operand).length ? "%d+" : "%d", raised);
    buffer_print(w->out, "%.*s, %%r11; ", (int)range->operand.length, range->operand.start);
}

/* Sets T to the last granule, and %r11 to the first one. Jumps to `dirty` for addresses without a
 * shadow. */
static void write_granules(const struct writer *w, const struct loop_range *range, int raised) {
    const char *e = w->wide_e.text, *t = w->wide_t.text;
    write_start(w, range, raised);
    if (range->stride > 0)
        buffer_print(w->out, "leaq %lld(%%r11,%s), %s; ", (long long)range->extra, e, t);
    else
        buffer_print(w->out, "leaq %lld(%%r11), %s; ", (long long)range->extra, t);
    if (range->stride < 0)
        buffer_print(w->out, "subq %s, %%r11; ", e);
    buffer_print(w->out, "orq %s, %%r11; shrq $%d, %%r11; jne %s; ", t, QUIPU_WATCH_ADDRESS_BITS,
                 w->dirty);
    write_start(w, range, raised);
    if (range->stride < 0)
        buffer_print(w->out, "subq %s, %%r11; ", e);
    buffer_print(w->out, "shrq $%d, %%r11; shrq $%d, %s; ", QUIPU_WATCH_GRANULE_BITS,
                 QUIPU_WATCH_GRANULE_BITS, t);
}

/* Tests the granules from %r11 to T, sixteen at a time. APART gets the code that tests them one by
 * one, if one of sixteen is marked. */
static void write_look(const struct writer *w, struct buffer *apart, uint32_t label) {
    const char *t = w->wide_t.text;
    buffer_print(w->out,
                 ".LQlw%u: cmpq $0, 0x%x(%%r11); jne .LQlx%u; cmpq $0, 0x%x(%%r11); jne .LQlx%u; "
                 "addq $%d, %%r11; cmpq %s, %%r11; jle .LQlw%u; .LQlz%u: ",
                 label, QUIPU_WATCH_SHADOW, label, QUIPU_WATCH_SHADOW + LOOK / 2, label, LOOK, t,
                 label, label);
    buffer_print(apart,
                 ".LQlx%u: testb $255, 0x%x(%%r11); jne %s; addq $1, %%r11; cmpq %s, %%r11; "
                 "jle .LQlx%u; jmp .LQlz%u; ",
                 label, QUIPU_WATCH_SHADOW, w->dirty, t, label, label);
}

/* Returns the bytes by which the stack pointer is lower meanwhile. */
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

/* Sets E to the number of bytes that the loop moves from the range's first address. Returns false
 * if E has it already, according to HELD, or if the range needs none. */
static bool write_length(const struct writer *w, const struct loop_range *range, int64_t *held) {
    if (!range->stride || (!range->is_narrow && magnitude(*held) == magnitude(range->stride)))
        return false;
    write_distance(w);
    if (range->is_narrow)
        write_narrow(w, range);
    write_bytes(w, range->stride);
    *held = range->stride;
    return true;
}

/* The loop copies the counter to another register. Does the same before the loop. */
static void write_copy(const struct writer *w, const struct loop_range *range) {
    if (range->copy.length)
        buffer_print(w->out, "%.*s; ", (int)range->copy.length, range->copy.start);
}

static struct writer writer_of(const struct range_checks *checks) {
    const struct loop_distance *distance = checks->distance;
    const struct scratch_registers *scratch = checks->scratch;
    return (struct writer){.out = checks->out,
                           .distance = distance,
                           .dirty = checks->dirty,
                           .suffix = distance->wide ? 'q' : 'l',
                           .counter = name_of(distance->counter, distance->wide),
                           .e = name_of(scratch->of[0], distance->wide),
                           .t = name_of(scratch->of[1], distance->wide),
                           .wide_e = name_of(scratch->of[0], true),
                           .wide_t = name_of(scratch->of[1], true),
                           .narrow_e = name_of(scratch->of[0], false),
                           .narrow_t = name_of(scratch->of[1], false)};
}

/* Tests the part of RANGE that one test covers. E contains its length. A store cannot be at an
 * address outside of user space, so any byte of the shadow is good enough for it. */
static void write_quick_look(const struct writer *w, const struct loop_range *range, int raised) {
    write_start(w, range, raised);
    if (range->stride < 0)
        buffer_print(w->out, "subq %s, %%r11; jc %s; ", w->wide_e.text, w->dirty);
    buffer_print(w->out, "shlq $%d, %%r11; shrq $%d, %%r11; ", 64 - QUIPU_WATCH_ADDRESS_BITS,
                 64 - QUIPU_WATCH_ADDRESS_BITS + QUIPU_WATCH_GRANULE_BITS);
    if (!range->stride && !range->extra)
        buffer_print(w->out, "testb $255, 0x%x(%%r11); jne %s; ", QUIPU_WATCH_SHADOW, w->dirty);
    else
        buffer_print(w->out, "cmpq $0, 0x%x(%%r11); jne %s; cmpq $0, 0x%x(%%r11); jne %s; ",
                     QUIPU_WATCH_SHADOW, w->dirty, QUIPU_WATCH_SHADOW + LOOK / 2, w->dirty);
}

static int64_t greatest_extra(const struct loop_range *ranges, uint32_t count) {
    int64_t extra = 0;
    for (uint32_t i = 0; i < count; i++)
        extra = ranges[i].extra > extra ? ranges[i].extra : extra;
    return extra;
}

bool find_quick_scratch(const struct range_checks *checks, const struct loop_range *ranges,
                        uint32_t count, struct scratch_registers *scratch) {
    const struct loop_distance *d = checks->distance;
    bool e = false, t = false;
    for (uint32_t i = 0; i < count; i++) {
        e |= ranges[i].stride != 0;
        t |= ranges[i].is_narrow;
    }
    t |= e && (d->step_register != NO_REGISTER || d->step < 0 ||
               (d->exact && !is_power_of_2((uint64_t)d->step)));
    *scratch = *checks->scratch;
    scratch->kept[0] &= e;
    scratch->kept[1] &= t;
    return greatest_extra(ranges, count) <= LENGTH_SEEN / 2;
}

void write_quick_checks(const struct range_checks *checks, const struct loop_range *ranges,
                        uint32_t count) {
    struct writer w = writer_of(checks);
    long long most = LENGTH_SEEN - greatest_extra(ranges, count);
    int64_t held = 0;
    for (uint32_t i = 0; i < count; i++) {
        write_copy(&w, &ranges[i]);
        if (write_length(&w, &ranges[i], &held))
            buffer_print(w.out, "cmpq $%lld, %s; ja %s; ", most, w.wide_e.text, w.dirty);
        write_quick_look(&w, &ranges[i], bytes_kept(checks->scratch));
    }
}

void write_range_check(struct range_checks *checks, const struct loop_range *range,
                       uint32_t label) {
    int raised = bytes_kept(checks->scratch);
    struct writer w = writer_of(checks);
    write_copy(&w, range);
    if (write_length(&w, range, &checks->held) && !w.distance->one_way_out)
        buffer_print(w.out, "cmpq $0x%x, %s; jae %s; ", LENGTH_MAX, w.wide_e.text, w.dirty);
    if (range->stride || range->extra) {
        write_granules(&w, range, raised);
        write_look(&w, checks->apart, label);
    } else {
        write_start(&w, range, raised);
        write_look_once(&w);
    }
}

void write_shadow_check(struct buffer *out, const char *dirty) {
    buffer_print(out, "cmpl $0, 0x%x; jne %s; ", (unsigned)NO_SHADOW, dirty);
}

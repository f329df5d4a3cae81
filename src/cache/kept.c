/* kept.c: references that may change caches; see kept.h. */
#include "cache/kept.h"

#include "util/diag.h"

#include <stdlib.h>
#include <string.h>

/* What a reference begins with: its kind, and these bits. */
enum {
    KIND_MASK = 3,
    SAME_PLACE = 4, /* as the reference before */
    MODIFIES = 8,
};

static struct recent_line *make_sets(uint64_t mask) {
    struct recent_line *sets = calloc(mask + 1, sizeof *sets);
    if (!sets)
        die("out of memory: no room for the sets of a cache");
    return sets;
}

static uint64_t mask_of(const struct cache_shape *shape) {
    return shape->size / shape->ways / shape->line - 1;
}

void kept_begin(struct kept_references *kept, const struct hierarchy_shape *shape) {
    *kept = (struct kept_references){.line_bits = (unsigned)__builtin_ctz(shape->data.line),
                                     .lost_everywhere = shape->inclusion == INCLUSION_INCLUSIVE,
                                     .last_mask = mask_of(&shape->last)};
    kept->first_masks[REFERENCE_FETCH] = mask_of(&shape->instruction);
    kept->first_masks[REFERENCE_READ] = kept->first_masks[REFERENCE_WRITE] = mask_of(&shape->data);
    kept->first[REFERENCE_FETCH] = make_sets(kept->first_masks[REFERENCE_FETCH]);
    kept->first[REFERENCE_READ] = kept->first[REFERENCE_WRITE] =
        make_sets(kept->first_masks[REFERENCE_READ]);
    kept->last = make_sets(kept->last_mask);
}

void kept_release(struct kept_references *kept) {
    free(kept->first[REFERENCE_FETCH]);
    free(kept->first[REFERENCE_READ]);
    free(kept->last);
    buffer_release(&kept->bytes);
    *kept = (struct kept_references){0};
}

/* Uses LINE. Returns whether that is quiet. */
static bool use_quietly(struct kept_references *kept, uint8_t kind, uint64_t line) {
    struct recent_line *first = &kept->first[kind][line & kept->first_masks[kind]];
    struct recent_line *last = &kept->last[line & kept->last_mask];
    uint64_t mark = line + 1;
    if (first->mark == mark &&
        (!kept->lost_everywhere || (last->mark == mark && last->since <= first->since)))
        return true;
    kept->time++;
    *first = (struct recent_line){mark, kept->time};
    if (last->mark != mark)
        *last = (struct recent_line){mark, kept->time};
    return false;
}

void kept_add(struct buffer *bytes, struct kept_before *before,
              const struct memory_reference *reference) {
    bool same_place = reference->place == before->place;
    unsigned char first = (unsigned char)(reference->kind | (same_place ? SAME_PLACE : 0) |
                                          (reference->modifies ? MODIFIES : 0));
    uint64_t *address = &before->addresses[reference->kind];
    uint64_t difference = reference->address - *address;
    uint64_t sign = difference >> 63 ? UINT64_MAX : 0;
    buffer_add(bytes, &first, 1);
    if (!same_place)
        buffer_uleb128(bytes, reference->place);
    buffer_uleb128(bytes, difference << 1 ^ sign);
    buffer_uleb128(bytes, reference->size);
    before->place = reference->place;
    *address = reference->address;
}

void kept_take(struct kept_references *kept, const struct memory_reference *reference) {
    uint64_t line = reference->address >> kept->line_bits;
    uint64_t last = (reference->address + reference->size - 1) >> kept->line_bits;
    bool quiet = true;
    do
        quiet &= use_quietly(kept, reference->kind, line);
    while (line++ < last);
    if (!quiet)
        kept_add(&kept->bytes, &kept->before, reference);
}

void kept_write(struct buffer *out, struct kept_references *kept) {
    part_number(out, kept->bytes.count, 8);
    buffer_add(out, kept->bytes.data ? kept->bytes.data : "", kept->bytes.count);
    buffer_release(&kept->bytes);
    memset(kept->first[REFERENCE_FETCH], 0,
           (kept->first_masks[REFERENCE_FETCH] + 1) * sizeof **kept->first);
    memset(kept->first[REFERENCE_READ], 0,
           (kept->first_masks[REFERENCE_READ] + 1) * sizeof **kept->first);
    memset(kept->last, 0, (kept->last_mask + 1) * sizeof *kept->last);
    kept->before = (struct kept_before){0};
    kept->time = 0;
}

bool kept_read(struct cursor *next, struct kept_before *before,
               struct memory_reference *reference) {
    uint64_t first = cursor_number(next, 1);
    uint8_t kind = first & KIND_MASK;
    if (first > (KIND_MASK | SAME_PLACE | MODIFIES) || kind >= REFERENCE_KINDS)
        return false;
    if (!(first & SAME_PLACE))
        before->place = cursor_uleb128_to(next, UINT32_MAX);
    uint64_t coded = cursor_uleb128(next), size = cursor_uleb128_to(next, REFERENCE_SIZE_MAX);
    before->addresses[kind] += coded >> 1 ^ -(coded & 1);
    *reference = (struct memory_reference){.address = before->addresses[kind],
                                           .size = (uint32_t)size,
                                           .place = (uint32_t)before->place,
                                           .kind = kind,
                                           .modifies = first & MODIFIES};
    return !next->failed && size && reference->address <= UINT64_MAX - (size - 1);
}

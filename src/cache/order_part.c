/* order_part.c: the references of a part of a thread, for several processors; see order_part.h. */
#include "cache/order_part.h"

#include "cache/ordered_codes.h"
#include "util/diag.h"

#include <stdlib.h>
#include <string.h>

void order_part_begin(struct order_part *part, const struct hierarchy_shape *shape,
                      unsigned processors, size_t threads) {
    const struct cache_shape *fetches = &shape->instruction;
    *part = (struct order_part){.leaves_out = threads <= processors &&
                                              shape->inclusion != INCLUSION_INCLUSIVE,
                                .line_bits = (unsigned)__builtin_ctz(fetches->line),
                                .mask = fetches->size / fetches->ways / fetches->line - 1};
    part->recent = calloc(part->mask + 1, sizeof *part->recent);
    if (!part->recent)
        die("out of memory: no room for the sets of a cache");
}

void order_part_release(struct order_part *part) {
    free(part->recent);
    buffer_release(&part->step);
    buffer_release(&part->bytes);
    *part = (struct order_part){0};
}

static bool is_quiet(struct order_part *part, const struct memory_reference *reference) {
    uint64_t line = reference->address >> part->line_bits;
    uint64_t last = (reference->address + reference->size - 1) >> part->line_bits;
    bool quiet = true;
    do {
        uint64_t *recent = &part->recent[line & part->mask];
        quiet &= *recent == line + 1;
        *recent = line + 1;
    } while (line++ < last);
    return quiet;
}

static void write_code(struct buffer *out, uint8_t code, uint64_t number) {
    buffer_add(out, &code, 1);
    buffer_uleb128(out, number);
}

static void write_plain(struct order_part *part) {
    if (part->plain)
        write_code(&part->bytes, ORDERED_PLAIN, part->plain);
    part->plain = 0;
}

/* Ends the instruction that is taken. */
static void end_step(struct order_part *part) {
    if (!part->begun)
        return;
    part->begun = false;
    if (!part->count) {
        part->plain++;
        return;
    }
    write_plain(part);
    write_code(&part->bytes, ORDERED_STEP, part->count);
    buffer_add(&part->bytes, part->step.data, part->step.count);
    part->step.count = 0;
    part->count = 0;
}

bool order_part_take(struct order_part *part, const struct memory_reference *reference,
                     bool first) {
    if (reference->kind == REFERENCE_TICKET) {
        end_step(part);
        write_plain(part);
        write_code(&part->bytes, ORDERED_TICKET, reference->address);
        return false;
    }
    if (reference->begins)
        end_step(part);
    part->begun = true;
    if (part->leaves_out && reference->kind == REFERENCE_FETCH && is_quiet(part, reference) &&
        !first)
        return false;
    kept_add(&part->step, &part->before, reference);
    part->count++;
    return true;
}

void order_part_write(struct buffer *out, struct order_part *part) {
    end_step(part);
    write_plain(part);
    part_number(out, part->bytes.count, 8);
    buffer_add(out, part->bytes.data ? part->bytes.data : "", part->bytes.count);
    buffer_release(&part->bytes);
    memset(part->recent, 0, (part->mask + 1) * sizeof *part->recent);
    part->before = (struct kept_before){0};
}

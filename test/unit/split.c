// Records that are taken apart and put together again are the same (trace/split.h): random ones of
// all forms, cut off anywhere, with bytes that are no record; and corrupt streams are refused or
// give other bytes, but never more than there is room for.
#include "trace/split.h"

#include "format/trace_heads.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROUNDS = 300
};

static uint8_t contents[QUIPU_TRACE_CONTENTS_MAX], out[SPLIT_MAX];

/* Xorshift. */
static uint64_t state = 88172645463325252;
static uint32_t draw(uint32_t below) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 33) % below;
}

static void fill(uint8_t *at, size_t size) {
    for (size_t i = 0; i < size; i++)
        at[i] = (uint8_t)draw(256);
}

/* Writes a random record to AT. Returns its size. */
static size_t write_record(uint8_t *at) {
    static const struct {
        uint8_t first, size;
    } fixed[] = {{QUIPU_TRACE_HANDLER, QUIPU_TRACE_HANDLER_SIZE},
                 {QUIPU_TRACE_RESUMED, QUIPU_TRACE_RESUMED_SIZE},
                 {QUIPU_TRACE_ORDER, QUIPU_TRACE_ORDER_SIZE},
                 {QUIPU_TRACE_MEASURED, QUIPU_TRACE_MEASURED_SIZE}};
    uint32_t size, kind = draw(20);
    fill(at, QUIPU_TRACE_RECORD_MAX);
    if (kind < 4) {
        at[0] = fixed[kind].first;
        return fixed[kind].size;
    }
    if (kind == 4) {
        at[0] = QUIPU_TRACE_LONG;
        return QUIPU_TRACE_LONG_SIZE + 8u * (at[1] % 16) + 4u * (at[1] / 16);
    }
    if (kind == 7) {
        uint32_t number = draw(QUIPU_TRACE_DOUBLES);
        struct quipu_trace_form form = quipu_trace_double_form(number);
        at[0] = (uint8_t)(QUIPU_TRACE_DOUBLE + number);
        return QUIPU_TRACE_DOUBLE_SIZE + 8u * form.wide + 4u * form.narrow;
    }
    if (kind == 5 || kind == 6) {
        size = draw(250);
        unsigned head = kind == 5 ? QUIPU_TRACE_LARGE_SIZE : QUIPU_TRACE_LARGE_SYNC_SIZE;
        at[0] = kind == 5 ? QUIPU_TRACE_LARGE : QUIPU_TRACE_LARGE_SYNC;
        memcpy(at + head - sizeof size, &size, sizeof size);
        return head + size;
    }
    const struct quipu_trace_head *row = &quipu_trace_heads()[draw(QUIPU_TRACE_HEADS)];
    at[0] = (uint8_t)(row->first + draw(row->count));
    return quipu_trace_head_size(row->form, at[0]) + 8u * row->form.wide + 4u * row->form.narrow;
}

/* Fills the contents with records behind PREFIX bytes, and then perhaps with something else.
 * Returns the size of all. */
static size_t write_contents(size_t prefix) {
    size_t most = prefix + draw(draw(10) ? 3000 : QUIPU_TRACE_RECORDS_MAX / 2), at = prefix;
    fill(contents, prefix);
    while (at < most)
        at += write_record(contents + at);
    if (draw(2))
        at -=
            draw((uint32_t)(at - prefix < 20 ? at - prefix + 1 : 20)); /* the last one is cut off */
    if (draw(4) == 0)
        contents[prefix + draw((uint32_t)(at - prefix + 1))] = (uint8_t)draw(256);
    if (draw(4) == 0)
        contents[at++] = QUIPU_TRACE_END;
    return at;
}

int main(void) {
    int faults = 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct quipu_trace_chunk chunk = {.counters = draw(3), .start = draw(2) * draw(500)};
        size_t size = write_contents(quipu_trace_counters_size(&chunk) + chunk.start), joined = 0;
        /* in memory of their own: ASan finds what is read behind them */
        uint8_t *own = malloc(size + 1), *back = malloc(QUIPU_TRACE_CONTENTS_MAX);
        memcpy(own, contents, size);
        size_t split = split_records(&chunk, own, size, out);
        if (!join_records(out, split, back, &joined) || joined != size ||
            memcmp(own, back, size) != 0)
            printf("round %u: %zu bytes became %zu\n", round, size, joined), faults++;
        for (int i = 0; i < 5; i++) {
            for (uint32_t changes = 1 + draw(3); changes > 0; changes--)
                out[draw(2) ? draw((uint32_t)split) : draw(60)] = (uint8_t)draw(256);
            size_t shorter = draw(3) ? split : draw((uint32_t)split);
            if (join_records(out, shorter, back, &joined) && joined > shorter)
                printf("round %u: %zu bytes of %zu\n", round, joined, shorter), faults++;
        }
        free(own);
        free(back);
    }
    return faults > 0;
}

/* walk_records.c: a thread's records, one after the other; see walk.h.
 *
 * A record's size follows from the note of its function: only who follows the path knows it. So the
 * next record is looked at, and then taken. Nothing in it is trusted. */
#include "trace/walk.h"

#include <string.h>

void walk_fail(struct trace_walk *walk, const char *fault) {
    if (!walk->fault)
        walk->fault = fault;
    walk->frames.count = 0;
}

void enter_chunk(struct trace_walk *walk) {
    const struct traced_chunk *chunk = &walk->thread->chunks.data[walk->chunk];
    const char *fault = read_chunk(chunk, walk->records);
    if (fault)
        walk_fail(walk, fault);
    walk->start = walk->records + chunk->counters * sizeof(struct quipu_trace_counter);
    walk->next = walk->start + chunk->start;
    walk->end = fault ? walk->records : walk->start + QUIPU_TRACE_RECORDS_MAX;
    walk_enter_counts(walk);
    walk->values.general.fs_base = chunk->fs_base;
    if (chunk->start || chunk->number == 0) /* the thread began anew, too */
        memset(walk->last, 0, sizeof walk->last);
}

static void note_position(struct trace_walk *walk) {
    walk->position.chunk = walk->thread->chunks.data[walk->chunk].number;
    walk->position.offset = (uint32_t)(walk->next - walk->start);
}

/* Returns the index of the first one of COUNT elements of SIZE bytes at LIST, which begin with
 * their addresses as linked and are sorted by them, whose address has the lowest bits LOW; or
 * COUNT. */
static size_t find_address(const void *list, size_t count, size_t size, uint32_t low) {
    size_t first = 0, last = count;
    while (first < last) {
        size_t middle = (first + last) / 2;
        if ((uint32_t) * (const uint64_t *)((const char *)list + middle * size) < low)
            first = middle + 1;
        else
            last = middle;
    }
    bool found =
        first < count && (uint32_t) * (const uint64_t *)((const char *)list + first * size) == low;
    return found ? first : count;
}

/* Looks for the sync whose code has these lowest bits of its address in all modules. */
static struct recent_sync look_for_sync(const struct trace_walk *walk, uint32_t low) {
    const struct traced_process *process = walk->thread->process;
    struct recent_sync sync = {.known = true, .low = low};
    for (size_t i = 0; i < process->modules.count && !sync.function; i++) {
        const struct loaded_module *loaded = &process->modules.data[i];
        const struct traced_module *module = loaded->module;
        size_t found = find_address(module->syncs.data, module->syncs.count,
                                    sizeof *module->syncs.data, low - (uint32_t)loaded->bias);
        if (found == module->syncs.count)
            continue;
        sync.function = module->syncs.data[found].function;
        sync.record = module->syncs.data[found].record;
        sync.loaded = loaded;
    }
    return sync;
}

static void find_sync(struct trace_walk *walk, struct item *item, uint32_t low) {
    struct recent_sync *recent = &walk->recent_syncs[low / 4 % RECENT_SYNCS];
    if (!recent->known || recent->low != low)
        *recent = look_for_sync(walk, low);
    item->function = recent->function;
    item->record = recent->record;
    item->loaded = recent->loaded;
}

/* Finds the site whose address has these lowest bits. */
static void find_site(struct trace_walk *walk, struct item *item, uint32_t low) {
    const struct traced_process *process = walk->thread->process;
    for (size_t i = 0; i < process->modules.count && !item->function; i++) {
        const struct loaded_module *loaded = &process->modules.data[i];
        const struct traced_module *module = loaded->module;
        size_t found = find_address(module->sites.data, module->sites.count,
                                    sizeof *module->sites.data, low - (uint32_t)loaded->bias);
        if (found == module->sites.count)
            continue;
        item->function = module->sites.data[found].function;
        item->piece = module->sites.data[found].piece;
        item->loaded = loaded;
    }
}

/* Returns the id of the witness at AT; that of none if it is something else. */
static uint32_t id_of_witness(const uint8_t *at) {
    if (*at == QUIPU_TRACE_LONG)
        return QUIPU_TRACE_NUMBERED + (uint32_t)number_at(at + 2, 2);
    if (*at == QUIPU_TRACE_LARGE)
        return QUIPU_TRACE_NUMBERED + (uint32_t)number_at(at + 1, 3);
    if (*at >= QUIPU_TRACE_DOUBLE)
        return 256 * (*at - QUIPU_TRACE_DOUBLE + 1u) + at[1];
    return *at;
}

/* Whether it is a sync without its stack pointer and its values of 8 bytes, which are those of the
 * last time. */
static bool is_repeated(const struct item *item, const struct record_note *note) {
    return note->repeats && *item->at == note->repeated_first;
}

/* Returns where the value of 8 bytes is that has so many of its record in front of it. */
static uint64_t *last_value(struct trace_walk *walk, const struct record_note *note, int before) {
    return &walk->last[(note->last + (uint32_t)before) % QUIPU_TRACE_LAST_COUNT];
}

/* The sync that is next has no stack pointer, which is that of the last time. */
static void read_repeated_sync(struct trace_walk *walk, struct item *item) {
    item->kind = QUIPU_TRACE_SYNC;
    find_sync(walk, item, (uint32_t)number_at(item->at + QUIPU_TRACE_REPEATED_SYNC_CODE, 4));
    if (!item->function)
        return;
    const struct record_note *note = &item->function->records[item->record];
    if (is_repeated(item, note))
        item->stack = *last_value(walk, note, 0);
    else
        item->function = NULL; /* there is no such record */
}

static struct item read_item(struct trace_walk *walk) {
    struct item item = {.at = walk->next};
    uint8_t first = *walk->next;
    item.kind = first < QUIPU_TRACE_FIRST ? first : QUIPU_TRACE_FIRST;
    if (quipu_trace_is_sync(first)) {
        item.kind = QUIPU_TRACE_SYNC;
        item.stack = number_at(item.at + 1, QUIPU_TRACE_SYNC_CODE - 1);
        find_sync(walk, &item, (uint32_t)number_at(item.at + QUIPU_TRACE_SYNC_CODE, 4));
    } else if (quipu_trace_is_repeated_sync(first)) {
        read_repeated_sync(walk, &item);
    } else if (first == QUIPU_TRACE_HANDLER) {
        item.interrupted = number_at(item.at + 1, 8);
        item.in_call = item.interrupted & QUIPU_TRACE_IN_CALL;
        item.interrupted &= ~QUIPU_TRACE_IN_CALL;
    } else if (first == QUIPU_TRACE_MEASURED) {
        item.kind = QUIPU_TRACE_MEASURED;
        find_site(walk, &item, (uint32_t)number_at(item.at + 1, 4));
    } else if (first == QUIPU_TRACE_ORDER) {
        item.kind = QUIPU_TRACE_ORDER;
        uint32_t low = (uint32_t)number_at(item.at + 1, 4);
        if (low)
            find_site(walk, &item, low);
        item.bare = !low;
        item.ticket = number_at(item.at + 5, 8);
    } else {
        item.id = id_of_witness(item.at);
    }
    return item;
}

const struct item *read_next_item(struct trace_walk *walk) {
    static const struct item end = {.kind = QUIPU_TRACE_END};
    while (walk->next + QUIPU_TRACE_RECORD_MAX >= walk->end || *walk->next == QUIPU_TRACE_END) {
        if (walk->fault || walk->chunk + 1 >= walk->thread->chunks.count ||
            walk->thread->chunks.data[walk->chunk + 1].broken)
            return &end;
        walk->chunk++;
        enter_chunk(walk);
    }
    walk->item = read_item(walk);
    walk->peeked = true;
    return &walk->item;
}

static void go_behind(struct trace_walk *walk, uint32_t size) {
    walk->next += size;
    note_position(walk);
    walk->ends = walk->chunk >= walk->end_chunk;
    walk->peeked = false;
}

void skip_record(struct trace_walk *walk, enum record_bytes kind, uint32_t size) {
    walk->taken.bytes[kind] += size;
    go_behind(walk, size);
}

/* Returns the bytes of the record's head. */
static uint32_t head_of(const struct item *item, const struct record_note *note) {
    return is_repeated(item, note) ? QUIPU_TRACE_REPEATED_SYNC_SIZE : note->head;
}

void skip_noted_record(struct trace_walk *walk, const struct record_note *note) {
    struct record_sums *taken = &walk->taken;
    const struct item *item = &walk->item;
    uint32_t head = head_of(item, note), wide = is_repeated(item, note) ? 0 : note->wide_size;
    uint32_t vectors = note->size - note->head - note->wide_size - note->narrow_size;
    if (note->repeats)
        *last_value(walk, note, 0) = item->stack;
    for (uint32_t i = 0; note->repeats && i < wide; i += 8)
        *last_value(walk, note, 1 + (int)i / 8) = number_at(item->at + head + i, 8);
    taken->bytes[note->sync ? BYTES_SYNCS : BYTES_WITNESSES] += head;
    taken->bytes[BYTES_VALUES] += wide;
    taken->bytes[BYTES_HALVES] += note->narrow_size;
    taken->bytes[BYTES_VECTORS] += vectors;
    go_behind(walk, head + wide + note->narrow_size + vectors);
}

uint64_t value_in(const struct item *item, const struct record_note *note, int reg) {
    uint16_t lower = (uint16_t)((1u << reg) - 1), wide = note->registers & (uint16_t)~note->narrow;
    const uint8_t *values = item->at + note->head;
    if (note->narrow >> reg & 1)
        return number_at(values + 8 * __builtin_popcount(wide) +
                             4 * __builtin_popcount(note->narrow & lower),
                         4);
    return number_at(values + 8 * __builtin_popcount(wide & lower), 8);
}

void take_record(struct trace_walk *walk, struct frame *frame, uint32_t record) {
    const struct record_note *note = &frame->function->records[record];
    const struct item *item = &walk->item;
    const uint8_t *at = item->at + head_of(item, note);
    unsigned wide = note->registers & (unsigned)~note->narrow;
    if (note->sync) {
        frame->values[STACK_POINTER] = walk->item.stack;
        frame->known |= REGISTER_RSP;
    }
    if (is_repeated(item, note)) {
        for (int i = 1; wide; wide &= wide - 1)
            frame->values[__builtin_ctz(wide)] = *last_value(walk, note, i++);
    } else {
        for (; wide; wide &= wide - 1, at += 8)
            memcpy(&frame->values[__builtin_ctz(wide)], at, 8);
    }
    for (unsigned left = note->narrow; left; left &= left - 1, at += 4)
        frame->values[__builtin_ctz(left)] = number_at(at, 4);
    for (unsigned i = 0; i < note->vector_count; i++) {
        memcpy(frame->vectors[i], at, note->vector_sizes[i]);
        memset(frame->vectors[i] + note->vector_sizes[i], 0,
               QUIPU_TRACE_VECTOR_SIZE - note->vector_sizes[i]);
        at += note->vector_sizes[i];
    }
    frame->has_vectors = note->vector_count;
    frame->known |= note->registers;
    frame->last = record;
    skip_noted_record(walk, note);
}

bool is_next(const struct item *item, const struct frame *frame, uint32_t record) {
    const struct record_note *note = &frame->function->records[record];
    if (note->sync)
        return item->kind == QUIPU_TRACE_SYNC && item->function == frame->function &&
               item->record == record;
    return item->kind == QUIPU_TRACE_FIRST && item->id == note->id;
}

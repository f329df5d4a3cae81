/* reuse.c: stack distances; see reuse.h. */
#include "cache/reuse.h"

#include "util/diag.h"

#include <stdlib.h>
#include <string.h>

enum {
    WORD = 64,          /* bits */
    SLOTS_FIRST = 1024, /* a multiple of WORD, as all later numbers */
};

static const uint64_t NO_LINE = UINT64_MAX; /* no address divided by a line's size */

static void *allocate(uint64_t count, size_t size) {
    void *memory = calloc(count, size);
    if (!memory)
        die("out of memory: no room for the last uses of %llu lines", (unsigned long long)count);
    return memory;
}

static void allocate_slots(struct reuse *reuse) {
    reuse->bits = allocate(reuse->slots / WORD, sizeof *reuse->bits);
    reuse->tree = allocate(reuse->slots / WORD + 1, sizeof *reuse->tree);
    reuse->owners = allocate(reuse->slots, sizeof *reuse->owners);
}

static void release_slots(struct reuse *reuse) {
    free(reuse->bits);
    free(reuse->tree);
    free(reuse->owners);
}

void reuse_begin(struct reuse *reuse, uint32_t line, uint64_t window) {
    *reuse = (struct reuse){
        .line_bits = (unsigned)__builtin_ctz(line), .slots = SLOTS_FIRST, .recent = NO_LINE};
    reuse->window = window;
    allocate_slots(reuse);
}

void reuse_release(struct reuse *reuse) {
    release_slots(reuse);
    number_table_release(&reuse->numbers);
    arena_release(&reuse->arena);
}

/* Adds CHANGE, 1 or -1 modulo 2^32, to the sums that have the word of SLOT. */
static void change_tree(struct reuse *reuse, uint64_t slot, uint32_t change) {
    for (uint64_t i = slot / WORD + 1; i <= reuse->slots / WORD; i += i & -i)
        reuse->tree[i] += change;
}

/* Returns the number of slots in use up to SLOT. */
static uint64_t count_to(const struct reuse *reuse, uint64_t slot) {
    uint64_t word = slot / WORD;
    uint64_t count = (uint64_t)__builtin_popcountll(reuse->bits[word] << (WORD - 1 - slot % WORD));
    for (uint64_t i = word; i; i -= i & -i)
        count += reuse->tree[i];
    return count;
}

static void take_slot(struct reuse *reuse, uint32_t line) {
    uint64_t slot = reuse->next_slot++;
    reuse->bits[slot / WORD] |= UINT64_C(1) << slot % WORD;
    reuse->owners[slot] = line;
    reuse->lines.data[line].slot = slot;
    change_tree(reuse, slot, 1);
}

static void give_slot_back(struct reuse *reuse, uint64_t slot) {
    reuse->bits[slot / WORD] &= ~(UINT64_C(1) << slot % WORD);
    change_tree(reuse, slot, (uint32_t)-1);
}

/* Gives the lines new slots from 0. At least three quarters of the slots are free then, so the cost
 * for each use is constant. */
static void renumber(struct reuse *reuse) {
    struct reuse old = *reuse;
    while (reuse->slots < 4 * reuse->lines.count)
        reuse->slots *= 2;
    allocate_slots(reuse);
    reuse->next_slot = 0;
    for (uint64_t slot = 0; slot < old.slots; slot++)
        if (old.bits[slot / WORD] >> slot % WORD & 1)
            take_slot(reuse, old.owners[slot]);
    release_slots(&old);
}

uint64_t reuse_use_line(struct reuse *reuse, uint64_t address) {
    if (address == reuse->recent)
        return 0;
    reuse->recent = address;
    if (reuse->next_slot == reuse->slots)
        renumber(reuse);
    uint32_t *number = number_table_at(&reuse->numbers, address);
    uint64_t distance = REUSE_FIRST;
    if (*number) {
        uint64_t slot = reuse->lines.data[*number - 1].slot;
        distance = reuse->lines.count - count_to(reuse, slot);
        give_slot_back(reuse, slot);
    } else {
        vector_push(&reuse->arena, &reuse->lines, (struct used_line){0});
        if (reuse->lines.count == UINT32_MAX)
            die("too many lines: the references use more than %u of them", UINT32_MAX - 1);
        *number = (uint32_t)reuse->lines.count;
    }
    take_slot(reuse, *number - 1);
    return distance;
}

void reuse_count_distance(struct reuse *reuse, uint64_t distance) {
    if (distance == REUSE_FIRST) {
        reuse->first_uses++;
        return;
    }
    while (reuse->distances.count <= distance)
        vector_push(&reuse->arena, &reuse->distances, 0);
    reuse->distances.data[distance]++;
}

void reuse_enter_window(struct reuse *reuse, uint64_t window, bool counts) {
    struct used_line *line = &reuse->lines.data[reuse->owners[reuse->next_slot - 1]];
    while (reuse->working_set.count <= window)
        vector_push(&reuse->arena, &reuse->working_set, 0);
    reuse->working_set.data[window] += counts && line->window != window + 1;
    line->window = window + 1;
}

void reuse_use(struct reuse *reuse, uint64_t address, uint32_t size) {
    uint64_t line = address >> reuse->line_bits;
    uint64_t last = (address + size - 1) >> reuse->line_bits;
    uint64_t distance = 0;
    do {
        uint64_t one = reuse_use_line(reuse, line);
        distance = one > distance ? one : distance;
        if (reuse->window)
            reuse_enter_window(reuse, reuse->references / reuse->window, true);
    } while (line++ < last);
    reuse->references++;
    reuse_count_distance(reuse, distance);
}

uint64_t reuse_misses(const struct reuse *reuse, uint64_t lines) {
    uint64_t misses = reuse->first_uses;
    for (uint64_t distance = lines; distance < reuse->distances.count; distance++)
        misses += reuse->distances.data[distance];
    return misses;
}

/* reuse_part.c: stack distances of parts; see reuse_part.h. */
#include "cache/reuse_part.h"

#include "util/diag.h"

#include <stdlib.h>

/* What is written of a part of a thread. */
struct thread_part {
    struct reuse reuse;
    uint64_t begin;       /* references in front of it, if there are windows */
    struct buffer firsts; /* its references with lines that are used for the first time */
    uint64_t first_count;
    VECTOR(uint64_t) lines; /* such lines of the reference */
    struct arena arena;
};

static void write_first(struct thread_part *part, uint64_t distance, bool in_first_window) {
    part_number(&part->firsts, distance, 8);
    part_number(&part->firsts, in_first_window, 1);
    part_number(&part->firsts, part->lines.count, 8);
    for (size_t i = 0; i < part->lines.count; i++)
        part_number(&part->firsts, part->lines.data[i], 8);
    part->first_count++;
}

static void use_reference(struct thread_part *part, const struct memory_reference *reference) {
    struct reuse *reuse = &part->reuse;
    uint64_t line = reference->address >> reuse->line_bits;
    uint64_t last = (reference->address + reference->size - 1) >> reuse->line_bits;
    uint64_t distance = 0;
    uint64_t window = reuse->window ? reuse->references / reuse->window : 0;
    bool in_first_window = reuse->window && window == part->begin / reuse->window;
    part->lines.count = 0;
    do {
        uint64_t one = reuse_use_line(reuse, line);
        if (one == REUSE_FIRST)
            vector_push(&part->arena, &part->lines, line);
        else if (one > distance)
            distance = one;
        if (reuse->window)
            reuse_enter_window(reuse, window, one != REUSE_FIRST || !in_first_window);
    } while (line++ < last);
    reuse->references++;
    if (part->lines.count)
        write_first(part, distance, in_first_window);
    else
        reuse_count_distance(reuse, distance);
}

/* Writes the lines, that of the most recent use last, and the windows of their last uses. */
static void write_lines(struct buffer *out, const struct reuse *reuse) {
    uint64_t *addresses = calloc(reuse->lines.count + 1, sizeof *addresses);
    if (!addresses)
        die("out of memory: no room for %zu lines", reuse->lines.count);
    for (size_t i = 0; i < reuse->numbers.capacity; i++)
        if (reuse->numbers.entries[i].value)
            addresses[reuse->numbers.entries[i].value - 1] = reuse->numbers.entries[i].key;
    part_number(out, reuse->lines.count, 8);
    for (uint64_t slot = 0; slot < reuse->next_slot; slot++) {
        uint32_t index = reuse->owners[slot];
        if (index >= reuse->lines.count || reuse->lines.data[index].slot != slot)
            continue; /* it is free again */
        part_number(out, addresses[index], 8);
        part_number(out, reuse->lines.data[index].window, 8);
    }
    free(addresses);
}

static void write_thread(struct buffer *out, struct thread_part *part, uint32_t id,
                         const char *fault) {
    const struct reuse *reuse = &part->reuse;
    uint64_t used = 0, window = reuse->window ? part->begin / reuse->window : 0;
    part_number(out, id, 4);
    part_text(out, fault);
    part_number(out, part->begin, 8);
    part_number(out, reuse->references - part->begin, 8);
    write_lines(out, reuse);
    for (size_t i = 0; i < reuse->distances.count; i++)
        used += reuse->distances.data[i] != 0;
    part_number(out, used, 8);
    for (size_t i = 0; i < reuse->distances.count; i++)
        if (reuse->distances.data[i]) {
            part_number(out, i, 8);
            part_number(out, reuse->distances.data[i], 8);
        }
    part_number(out, window < reuse->working_set.count ? reuse->working_set.count - window : 0, 8);
    for (; window < reuse->working_set.count; window++)
        part_number(out, reuse->working_set.data[window], 8);
    part_number(out, part->first_count, 8);
    buffer_add(out, part->firsts.data ? part->firsts.data : "", part->firsts.count);
}

/* Counts the next references of SOURCE to data, if they are not of a PART. Otherwise uses them. */
static uint64_t read_references(struct reference_source *source, struct thread_part *part) {
    static struct memory_reference references[REFERENCES_MOST];
    uint64_t total = 0;
    size_t count;
    while ((count = source->next(source, references, REFERENCES_MOST)))
        for (size_t i = 0; i < count; i++) {
            if (references[i].kind == REFERENCE_FETCH)
                continue;
            total++;
            if (part)
                use_reference(part, &references[i]);
        }
    return total;
}

/* Writes what the part has of a thread. BEGIN is the number of references in front of it; returns
 * that number behind it. */
static uint64_t count_thread(struct buffer *out, struct reference_source *source, size_t thread,
                             const struct reuse *options, uint64_t begin, struct part_choice part) {
    struct thread_part result = {.begin = begin};
    source->begin_part(source, thread, part.number - 1, part.count);
    reuse_begin(&result.reuse, 1u << options->line_bits, options->window);
    result.reuse.references = begin;
    uint64_t count = read_references(source, &result);
    write_thread(out, &result, source->thread_id, source->fault);
    reuse_release(&result.reuse);
    buffer_release(&result.firsts);
    arena_release(&result.arena);
    return begin + count;
}

/* Returns the references of the parts of a thread from number FIRST to number END, from 1; END is
 * not among them. */
static uint64_t count_others(struct reference_source *source, size_t thread, uint32_t first,
                             uint32_t end, uint32_t count) {
    uint64_t total = 0, unsure = source->unsure;
    source->fault = NULL;
    for (uint32_t number = first; number < end && !source->fault; number++) {
        source->begin_part(source, thread, number - 1, count);
        total += read_references(source, NULL);
    }
    source->unsure = unsure;
    return total;
}

void count_reuse_part(struct buffer *contents, struct reference_source *source, uint32_t line,
                      uint64_t window, struct part_choice part) {
    const struct reuse options = {.line_bits = (unsigned)__builtin_ctz(line), .window = window};
    struct buffer threads = {0};
    uint64_t begin = 0;
    for (size_t thread = 0; thread < source->threads; thread++) {
        bool goes_on = true; /* nothing is wrong with the thread so far */
        if (window) {
            begin += count_others(source, thread, 1, part.number, part.count);
            goes_on = !source->fault;
        }
        uint64_t end = count_thread(&threads, source, thread, &options, begin, part);
        if (!window || !goes_on)
            continue;
        begin = end;
        if (!source->fault && thread + 1 < source->threads)
            begin += count_others(source, thread, part.number + 1, part.count + 1, part.count);
    }
    part_begin(contents, source);
    part_number(contents, line, 4);
    part_number(contents, window, 8);
    buffer_add(contents, threads.data ? threads.data : "", threads.count);
    buffer_release(&threads);
}

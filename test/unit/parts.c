// Results of parts, added up, are those of the whole (cache/cache_part.h, cache/reuse_part.h): for
// random references on one and several lines, random caches with two and three levels, independent,
// inclusive and exclusive, threads, and cuts anywhere; also where a part is empty, and where a
// thread could not be followed to its end. timeout: 120
#include "cache/cache_part.h"
#include "cache/reuse_part.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    ROUNDS = 400,
    THREADS_MOST = 3,
    LENGTH_MOST = 12000, /* references of a thread */
    PLACES = 5
};

static int faults;

static void expect(bool condition, const char *what, unsigned round, uint64_t number) {
    if (!condition)
        printf("round %u: %s: %" PRIu64 "\n", round, what, number), faults++;
}

/* Xorshift. */
static uint64_t state = 88172645463325252;
static uint32_t draw(uint32_t below) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 33) % below;
}

/* ---- references ---- */

struct stream {
    struct reference_source source; /* the first member */
    struct memory_reference *list[THREADS_MOST];
    size_t length[THREADS_MOST];
    size_t broken[THREADS_MOST]; /* behind so many references, the thread cannot be followed */
    uint64_t spots[PLACES];      /* 1 + number among the source's places, by name of the place */
    size_t thread, next, end;    /* of what is read; thread: of the whole */
    bool by_part;
};

static const char *const names[PLACES] = {"a", "b", "c", "d", "e"};

/* Returns the number of place NAME, as a trace numbers them: by first use. */
static uint32_t place_of(struct stream *stream, uint32_t name) {
    if (!stream->spots[name]) {
        struct reference_place place = {.function = names[name], .module = "m", .identity = name};
        vector_push(&stream->source.arena, &stream->source.places, place);
        stream->spots[name] = stream->source.places.count;
    }
    return (uint32_t)stream->spots[name] - 1;
}

static size_t next_references(struct reference_source *source, struct memory_reference *references,
                              size_t most) {
    struct stream *stream = (struct stream *)source;
    size_t count = 0;
    while (count < most) {
        size_t thread = stream->thread;
        if (stream->next == stream->end) {
            if (stream->by_part || thread + 1 >= source->threads)
                break;
            stream->thread++;
            stream->next = 0;
            stream->end = stream->broken[stream->thread];
            continue;
        }
        references[count] = stream->list[thread][stream->next++];
        references[count].place = place_of(stream, references[count].place);
        count++;
    }
    return count;
}

/* Only the part in which a thread breaks off says so; those behind it have references, too. */
static void begin_part(struct reference_source *source, size_t thread, uint32_t number,
                       uint32_t count) {
    struct stream *stream = (struct stream *)source;
    size_t length = stream->length[thread], broken = stream->broken[thread];
    stream->by_part = true;
    stream->thread = thread;
    stream->next = length * number / count;
    stream->end = length * (number + 1) / count;
    source->thread_id = (uint32_t)thread;
    source->fault = NULL;
    if (broken < length && broken >= stream->next && broken < stream->end) {
        source->fault = "broken";
        stream->end = broken;
    }
}

static struct stream make_stream(unsigned round) {
    struct stream stream = {.source = {.path = "references",
                                       .threads = 1 + draw(THREADS_MOST),
                                       .next = next_references,
                                       .begin_part = begin_part,
                                       .file_size = round}};
    uint32_t span = 64u << draw(8), longest = 1u << draw(6);
    for (size_t thread = 0; thread < stream.source.threads; thread++) {
        size_t length = draw(4) ? draw(LENGTH_MOST) : draw(20);
        stream.length[thread] = length;
        stream.broken[thread] = draw(8) ? length : draw((uint32_t)length + 1);
        stream.list[thread] = calloc(length + 1, sizeof *stream.list[thread]);
        uint64_t at = 0;
        for (size_t i = 0; i < length; i++) {
            struct memory_reference *reference = &stream.list[thread][i];
            at = draw(3) ? at + draw(24) : 8 * (uint64_t)draw(span);
            reference->address = 0x1000 + at;
            reference->size = 1 + draw(longest);
            reference->place = draw((uint32_t)(1 + i * PLACES / (length + 1)));
            reference->kind = (uint8_t)draw(REFERENCE_KINDS);
        }
    }
    stream.end = stream.broken[0];
    return stream;
}

static void rewind_stream(struct stream *stream) {
    stream->thread = stream->next = 0;
    stream->end = stream->broken[0];
    stream->by_part = false;
    stream->source.places.count = 0;
    memset(stream->spots, 0, sizeof stream->spots);
}

/* ---- parts, each written to a file and read again ---- */

struct making {
    struct stream *stream;
    struct hierarchy_shape shape;
    uint32_t line;
    uint64_t window;
};

static part_files make_parts(struct arena *arena, struct making *making, enum part_kind kind,
                             uint32_t count) {
    part_files files = {0};
    for (uint32_t number = 1; number <= count; number++) {
        struct part_choice part = {number, count};
        struct buffer contents = {0};
        FILE *file = tmpfile();
        rewind_stream(making->stream);
        if (kind == PART_CACHE)
            simulate_cache_part(&contents, &making->stream->source, &making->shape, 0,
                                PLACE_FUNCTION, part);
        else
            count_reuse_part(&contents, &making->stream->source, making->line, making->window,
                             part);
        write_part_file(file, kind, part, &contents);
        fflush(file);
        lseek(fileno(file), 0, SEEK_SET);
        vector_push(arena, &files, read_part_file(fileno(file), "part", kind));
        fclose(file);
        buffer_release(&contents);
    }
    return files;
}

static void release(struct arena *arena, part_files *files) {
    for (size_t i = 0; i < files->count; i++)
        part_file_release(&files->data[i]);
    arena_release(arena);
}

static struct cache_shape draw_shape(bool may_be_none) {
    uint64_t sets = 1u << draw(5), ways = 1 + draw(9);
    uint32_t line = 16u << draw(3);
    if (may_be_none && draw(3) == 0)
        return (struct cache_shape){0};
    return (struct cache_shape){sets * ways * line, ways, line};
}

/* Half of all levels are independent. The others have lines of one size, and a last level. */
static struct hierarchy_shape draw_hierarchy(void) {
    struct hierarchy_shape shape = {.instruction = draw_shape(false),
                                    .data = draw_shape(false),
                                    .second = draw_shape(true),
                                    .last = draw_shape(true)};
    struct cache_shape *shapes[] = {&shape.instruction, &shape.second, &shape.last};
    if (draw(2))
        return shape;
    shape.inclusion = draw(2) ? INCLUSION_INCLUSIVE : INCLUSION_EXCLUSIVE;
    if (!shape.last.size)
        shape.last = shape.data;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        if (!shapes[i]->size)
            continue;
        shapes[i]->size = shapes[i]->size / shapes[i]->line * shape.data.line;
        shapes[i]->line = shape.data.line;
    }
    if (draw(2)) { /* otherwise the first levels lose lines by the last one */
        shape.last.size *= 4;
        shape.last.ways *= draw(2) ? 4 : 1;
    }
    return shape;
}

static void compare_caches(struct making *making, uint32_t count, unsigned round) {
    struct arena arena = {0};
    struct hierarchy hierarchy;
    struct cache_merge merge;
    part_files files = make_parts(&arena, making, PART_CACHE, count);
    merge_cache_parts(&merge, &files);
    rewind_stream(making->stream);
    hierarchy_begin(&hierarchy, &making->shape);
    struct reference_source *source = &making->stream->source;
    struct cache_counts *counts = simulate_caches(source, &hierarchy, NULL);
    expect(merge.source.places.count == source->places.count, "places of parts", round,
           merge.source.places.count);
    for (size_t i = 0; i < source->places.count && !faults; i++) {
        expect(strcmp(merge.source.places.data[i].function, source->places.data[i].function) == 0,
               "a place has another name", round, i);
        for (int kind = 0; kind < REFERENCE_KINDS; kind++) {
            expect(merge.counts[i].references[kind] == counts[i].references[kind], "references",
                   round, merge.counts[i].references[kind]);
            for (int level = 0; level < LEVELS; level++)
                expect(merge.counts[i].misses[kind][level] == counts[i].misses[kind][level],
                       level == 0   ? "misses of the first level"
                       : level == 1 ? "misses of the second level"
                                    : "misses of the last level",
                       round, merge.counts[i].misses[kind][level]);
        }
    }
    free(counts);
    hierarchy_release(&hierarchy);
    cache_merge_release(&merge);
    release(&arena, &files);
}

static void compare_lists(const uint64_t *a, size_t a_count, const uint64_t *b, size_t b_count,
                          const char *what, unsigned round) {
    expect(a_count == b_count, what, round, a_count);
    for (size_t i = 0; i < a_count && i < b_count; i++)
        expect(a[i] == b[i], what, round, i);
}

static void compare_distances(struct making *making, uint32_t count, unsigned round) {
    struct arena arena = {0};
    struct reuse parts, whole;
    struct reference_source result = {0};
    part_files files = make_parts(&arena, making, PART_REUSE, count);
    merge_reuse_parts(&parts, &result, &files);
    rewind_stream(making->stream);
    reuse_begin(&whole, making->line, making->window);
    struct memory_reference reference;
    while (next_references(&making->stream->source, &reference, 1))
        if (reference.kind != REFERENCE_FETCH)
            reuse_use(&whole, reference.address, reference.size);
    expect(parts.references == whole.references, "references to data", round, parts.references);
    expect(parts.first_uses == whole.first_uses, "first uses", round, parts.first_uses);
    expect(parts.lines.count == whole.lines.count, "lines", round, parts.lines.count);
    compare_lists(parts.distances.data, parts.distances.count, whole.distances.data,
                  whole.distances.count, "distances", round);
    compare_lists(parts.working_set.data, parts.working_set.count, whole.working_set.data,
                  whole.working_set.count, "windows", round);
    reuse_release(&parts);
    reuse_release(&whole);
    release(&arena, &files);
}

int main(void) {
    if (!freopen("/dev/null", "w", stderr)) /* warnings of broken threads */
        return 1;
    for (unsigned round = 0; round < ROUNDS && !faults; round++) {
        struct stream stream = make_stream(round);
        struct making making = {
            .stream = &stream, .line = 16u << draw(3), .window = draw(3) ? 1 + draw(900) : 0};
        making.shape = draw_hierarchy();
        uint32_t count = 1 + draw(draw(4) ? 12 : 60);
        compare_caches(&making, count, round);
        compare_distances(&making, count, round);
        for (size_t thread = 0; thread < stream.source.threads; thread++)
            free(stream.list[thread]);
        arena_release(&stream.source.arena);
    }
    return faults != 0;
}

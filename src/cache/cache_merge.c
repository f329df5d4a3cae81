/* cache_merge.c: adds up what the parts of a trace did in caches; see cache_part.h.
 *
 * `caches` has the contents as they are in front of the part. Its open events are answered in their
 * order. A use of a line that the part has not used before is done in `caches` itself: there, the
 * lines of the part come in front of the older ones, though not in the order of their last uses.
 * That does not matter to a line that is not among them. Where their order matters, the event has
 * the uses in front of the line. At the end of the part its sets get their lines in the right
 * order. */
#include "cache/cache_part.h"

#include "cache/heap_merge.h"
#include "cache/kept.h"
#include "cache/number_table.h"
#include "cache/order_part.h"
#include "util/diag.h"
#include "util/map.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Counts in a file that are not added yet. */
struct later_counts {
    size_t file;
    struct cursor next;
};

struct merging {
    struct cache_merge *merge;
    struct hierarchy caches;
    struct map places;  /* index in the merged places, by what is known of a place */
    size_t room;        /* of the counts */
    uint32_t **numbers; /* by file: 1 + merged index of each of its places; 0: none yet */
    struct reference_place **read; /* by file: its places */
    uint64_t *place_counts;
    struct merged_heaps heaps;      /* by object: as they are in front of the part */
    struct processors *processors;  /* NULL: one, and what follows is not needed */
    struct ordered_stream *streams; /* by thread */
    size_t thread;                  /* that is read */
    const part_files *files;
    VECTOR(struct later_counts) later; /* to be added when all places are known */
    struct number_table seen;          /* `stamp`, by line: it was met in this look at a set */
    uint32_t stamp;
    /* of the part of a thread */
    uint8_t *missed; /* by event */
    uint64_t event_count;
    VECTOR(uint64_t) lines; /* of a set, the most recent one first */
    struct arena arena;     /* of all that */
};

/* ---- what a part file begins with ---- */

static struct cache_shape read_shape(struct part_file *file) {
    struct cache_shape shape = {.size = part_next(file, 8), .ways = part_next(file, 8)};
    shape.line = (uint32_t)part_next(file, 4);
    if (shape.size && !cache_shape_is_valid(&shape))
        refuse_part_file(file);
    return shape;
}

static struct reference_place read_place(struct part_file *file) {
    struct reference_place place = {.function = part_next_text(file)};
    place.module = part_next_text(file);
    place.file = part_next_text(file);
    place.line = (uint32_t)part_next(file, 4);
    place.process = (uint32_t)part_next(file, 4);
    place.thread = (uint32_t)part_next(file, 4);
    place.identity = part_next(file, 8);
    place.object = (uint8_t)part_next(file, 1);
    place.name = part_next_text(file);
    place.bytes = part_next(file, 8);
    place.blocks = part_next(file, 8);
    return place;
}

static void read_file_begin(struct merging *merging, const part_files *files, size_t index) {
    enum {
        PLACE_LEAST = 53 /* bytes */
    };
    struct part_file *file = &files->data[index];
    struct cache_merge *merge = merging->merge;
    struct hierarchy_shape shape = {.instruction = read_shape(file), .data = read_shape(file)};
    shape.second = read_shape(file);
    shape.last = read_shape(file);
    uint64_t inclusion = part_next(file, 4), processors = part_next(file, 4);
    uint64_t kind = part_next(file, 4);
    check_part_file(file);
    if (!shape.instruction.size || !shape.data.size || inclusion > INCLUSION_EXCLUSIVE ||
        kind > PLACE_OBJECT)
        refuse_part_file(file);
    shape.inclusion = (enum inclusion)inclusion;
    if (!levels_fit(&shape) || processors > PROCESSORS_MOST ||
        (processors && shape.second.size && shape.second.line != shape.data.line))
        refuse_part_file(file);
    if (index == 0) {
        merge->shape = shape;
        merge->processors = (unsigned)processors;
        merge->kind = (enum place_kind)kind;
    }
    if (!is_same_hierarchy(&shape, &merge->shape) || processors != merge->processors)
        die("'%s' and '%s' are of different caches; make all parts with the same options",
            files->data[0].path, file->path);
    if (kind != merge->kind)
        die("'%s' and '%s' have different rows; make all parts with the same --by",
            files->data[0].path, file->path);
    uint64_t count = part_next_count(file, PLACE_LEAST);
    merging->place_counts[index] = count;
    merging->numbers[index] = ARENA_ARRAY(&merging->arena, uint32_t, count + 1);
    merging->read[index] = ARENA_ARRAY(&merging->arena, struct reference_place, count + 1);
    for (uint64_t i = 0; i < count; i++)
        merging->read[index][i] = read_place(file);
    check_part_file(file);
    merge->source.unsure += file->unsure;
}

/* ---- places ---- */

/* Returns the merged index of PLACE, which is added if it is new. */
static uint32_t number_merged(struct merging *merging, const struct reference_place *place) {
    struct cache_merge *merge = merging->merge;
    uint32_t next = (uint32_t)merge->source.places.count;
    const char *key =
        arena_print(&merging->arena, "%" PRIx64 ":%u:%u:%u:%u:%s:%s:%s:%s", place->identity,
                    place->object, place->line, place->process, place->thread,
                    place->function ? place->function : "", place->module ? place->module : "",
                    place->file ? place->file : "", place->name ? place->name : "");
    uint32_t number = *map_add(&merging->arena, &merging->places, key, strlen(key), next);
    if (number != next)
        return number;
    vector_push(&merge->source.arena, &merge->source.places, *place);
    if (next >= merging->room) {
        size_t more = 2 * (size_t)next + 16;
        merge->counts = realloc(merge->counts, more * sizeof *merge->counts);
        if (!merge->counts)
            die("out of memory: no room for the counts of %zu places", more);
        memset(merge->counts + merging->room, 0, (more - merging->room) * sizeof *merge->counts);
        merging->room = more;
    }
    return next;
}

/* Returns the merged index of PLACE of FILE, which has that INDEX, and is not pending. */
static uint32_t number_settled(struct merging *merging, const struct part_file *file, size_t index,
                               uint64_t place) {
    if (file->next.failed || place >= merging->place_counts[index] ||
        merging->read[index][place].object >= OBJECT_PENDING)
        refuse_part_file(file);
    uint32_t *number = &merging->numbers[index][place];
    if (!*number)
        *number = 1 + number_merged(merging, &merging->read[index][place]);
    return *number - 1;
}

/* Returns the merged index of PLACE of FILE, which has that INDEX. If it is pending, the heaps are
 * as they are in front of the part of the only thread that has it. */
static uint32_t number_of(struct merging *merging, const struct part_file *file, size_t index,
                          uint64_t place) {
    if (file->next.failed || place >= merging->place_counts[index])
        refuse_part_file(file);
    const struct reference_place *read = &merging->read[index][place];
    uint32_t *number = &merging->numbers[index][place];
    if (*number || read->object != OBJECT_PENDING)
        return *number ? *number - 1 : number_settled(merging, file, index, place);
    const struct heap_block *block =
        find_merged_block(&merging->heaps, read->process, read->identity, read->bytes);
    *number = 1 + (block ? block->place : number_settled(merging, file, index, read->blocks - 1));
    return *number - 1;
}

/* Returns the counts of PLACE of FILE, which has that INDEX. */
static struct cache_counts *counts_of(struct merging *merging, const struct part_file *file,
                                      size_t index, uint64_t place) {
    uint32_t number = number_of(merging, file, index, place);
    return &merging->merge->counts[number];
}

/* Reads the number of a place of file INDEX. Returns its counts. */
static struct cache_counts *next_place(struct merging *merging, struct part_file *file,
                                       size_t index) {
    uint64_t place = part_next(file, 4);
    return counts_of(merging, file, index, place);
}

static void add_counts(struct merging *merging, struct part_file *file, size_t index, bool adds) {
    enum {
        COUNTS_SIZE = 4 + 8 * REFERENCE_KINDS * (1 + LEVELS)
    };
    struct cache_counts ignored = {0};
    for (uint64_t i = part_next_count(file, COUNTS_SIZE); i-- > 0;) {
        struct cache_counts *counts = adds ? next_place(merging, file, index) : &ignored;
        if (!adds)
            part_next(file, 4);
        for (int kind = 0; kind < REFERENCE_KINDS; kind++) {
            counts->references[kind] += part_next(file, 8);
            for (int level = 0; level < LEVELS; level++)
                counts->misses[kind][level] += part_next(file, 8);
        }
    }
    check_part_file(file);
}

/* ---- the heap ---- */

/* A file that is read. */
struct merged_file {
    struct merging *merging;
    const struct part_file *file;
    size_t index;
};

static uint32_t number_place(void *context, uint64_t place) {
    const struct merged_file *merged = context;
    return number_of(merged->merging, merged->file, merged->index, place);
}

static void add_allocated(void *context, uint32_t number, uint64_t blocks, uint64_t bytes) {
    const struct merged_file *merged = context;
    struct reference_place *place = vector_at(&merged->merging->merge->source.places, number);
    place->blocks += blocks;
    place->bytes += bytes;
}

/* Does to the heap what the part of a thread has done, if it is WANTED. */
static void change_heap(struct merging *merging, struct part_file *file, size_t index,
                        bool wanted) {
    struct merged_file merged = {merging, file, index};
    merge_heap(&merging->heaps, file, (struct merged_places){number_place, &merged, add_allocated},
               wanted);
}

/* ---- events ---- */

enum {
    USE_SIZE = 12 /* bytes of a use in a file */
};

/* Whether the next use in FILE was made. Sets *LINE. */
static bool next_use(const struct merging *merging, struct part_file *file, uint64_t *line) {
    *line = part_next(file, 8);
    uint64_t condition = part_next(file, 4);
    if (condition > merging->event_count)
        refuse_part_file(file);
    return !condition || merging->missed[condition - 1];
}

static void begin_look(struct merging *merging) {
    if (++merging->stamp == 0) {
        number_table_release(&merging->seen);
        merging->stamp = 1;
    }
}

/* Whether LINE is met for the first time in this look. */
static bool is_new(struct merging *merging, uint64_t line) {
    uint32_t *stamp = number_table_at(&merging->seen, line);
    bool is = *stamp != merging->stamp;
    *stamp = merging->stamp;
    return is;
}

/* Reads COUNT uses in front of LINE. Returns whether CACHE has lost the line by then, or never had
 * it. */
static bool misses_behind(struct merging *merging, struct part_file *file, uint64_t count,
                          const struct cache *cache, uint64_t line) {
    const uint8_t *uses = cursor_bytes(&file->next, count * USE_SIZE);
    const uint64_t *set = cache->lines + (line & cache->set_mask) * cache->shape.ways;
    struct cursor behind = file->next;
    uint64_t in_front = 0, other;
    begin_look(merging);
    for (; count && in_front < cache->shape.ways; count--) {
        file->next = (struct cursor){uses + (count - 1) * USE_SIZE, behind.end, false};
        if (!next_use(merging, file, &other))
            continue;
        if (other == line) {
            file->next = behind;
            return false;
        }
        in_front += is_new(merging, other);
    }
    file->next = behind;
    for (uint64_t way = 0; way < cache->shape.ways && in_front < cache->shape.ways; way++) {
        if (set[way] == line + 1)
            return false;
        in_front += set[way] && is_new(merging, set[way] - 1);
    }
    return true;
}

/* Answers the next question about CACHE in FILE, if it is used at all. */
static bool answer(struct merging *merging, struct part_file *file, struct cache *cache,
                   bool used) {
    uint64_t line = part_next(file, 8), lost;
    uint64_t count = part_next_count(file, USE_SIZE);
    if (!used) {
        cursor_bytes(&file->next, count * USE_SIZE);
        return false;
    }
    bool missed = count && misses_behind(merging, file, count, cache, line);
    bool was_older = cache_misses_line(cache, line, &lost);
    return count ? missed : was_older;
}

static struct cache *cache_at(struct merging *merging, uint64_t kind, uint64_t level) {
    struct hierarchy *caches = &merging->caches;
    if (level == LEVEL_FIRST)
        return kind == REFERENCE_FETCH ? &caches->instruction : &caches->data;
    return level == LEVEL_SECOND ? &caches->second : &caches->last;
}

static void replay_event(struct merging *merging, struct part_file *file, size_t index) {
    enum {
        QUESTION_LEAST = 16 /* bytes */
    };
    struct cache_counts *counts = next_place(merging, file, index);
    uint64_t kind = part_next(file, 1), level = part_next(file, 1);
    bool missed = part_next(file, 1);
    uint64_t condition = part_next(file, 4);
    if (kind >= REFERENCE_KINDS || level >= LEVELS || condition > merging->event_count)
        refuse_part_file(file);
    struct cache *cache = cache_at(merging, kind, level);
    if (!cache->lines)
        refuse_part_file(file);
    bool used = !condition || merging->missed[condition - 1];
    for (uint64_t i = part_next_count(file, QUESTION_LEAST); i-- > 0;)
        missed |= answer(merging, file, cache, used);
    check_part_file(file);
    merging->missed[merging->event_count++] = missed && used;
    counts->misses[kind][level] += missed && used;
}

/* Reads over the events of a part that is left out. */
static void skip_events(struct part_file *file, uint64_t count) {
    for (; count; count--) {
        cursor_bytes(&file->next, 11);
        for (uint64_t i = part_next_count(file, 16); i-- > 0;) {
            part_next(file, 8);
            cursor_bytes(&file->next, part_next_count(file, USE_SIZE) * USE_SIZE);
        }
    }
}

/* ---- contents behind the part ---- */

/* Gives the set of CACHE the lines of the next COUNT uses, in front of those that it had. */
static void set_lines(struct merging *merging, struct part_file *file, uint64_t *set, uint64_t ways,
                      uint64_t count) {
    const uint8_t *uses = cursor_bytes(&file->next, count * USE_SIZE);
    struct cursor behind = file->next;
    uint64_t line;
    begin_look(merging);
    merging->lines.count = 0;
    for (; count && merging->lines.count < ways; count--) {
        file->next = (struct cursor){uses + (count - 1) * USE_SIZE, behind.end, false};
        if (next_use(merging, file, &line) && is_new(merging, line))
            vector_push(&merging->arena, &merging->lines, line + 1);
    }
    file->next = behind;
    for (uint64_t way = 0; way < ways && merging->lines.count < ways; way++)
        if (set[way] && is_new(merging, set[way] - 1))
            vector_push(&merging->arena, &merging->lines, set[way]);
    memset(set, 0, ways * sizeof *set);
    if (merging->lines.count)
        memcpy(set, merging->lines.data, merging->lines.count * sizeof *set);
}

static void set_contents(struct merging *merging, struct part_file *file, struct cache *cache,
                         bool sets) {
    if (!cache->lines)
        return;
    for (uint64_t i = part_next_count(file, 16); i-- > 0;) {
        uint64_t number = part_next(file, 8), ways = cache->shape.ways;
        uint64_t count = part_next_count(file, USE_SIZE);
        if (number > cache->set_mask)
            refuse_part_file(file);
        if (sets)
            set_lines(merging, file, cache->lines + number * ways, ways, count);
        else
            cursor_bytes(&file->next, count * USE_SIZE);
    }
    check_part_file(file);
}

/* ---- references that were kept ---- */

/* Simulates the references that a part has kept of a thread, if they are WANTED. */
static void use_kept(struct merging *merging, struct part_file *file, size_t index, bool wanted) {
    uint64_t size = part_next_count(file, 1);
    const uint8_t *bytes = cursor_bytes(&file->next, size);
    struct cursor next = {bytes, bytes + size, false};
    struct kept_before before = {0};
    struct memory_reference reference;
    while (wanted && cursor_left(&next)) {
        if (!kept_read(&next, &before, &reference))
            refuse_part_file(file);
        struct cache_counts *counts = counts_of(merging, file, index, reference.place);
        add_misses(counts, reference.kind, hierarchy_use(&merging->caches, &reference));
    }
}

/* ---- several processors ---- */

/* Notes what FILE, number INDEX, has of the thread, if it is WANTED. */
static void add_ordered(struct merging *merging, struct part_file *file, size_t index,
                        bool wanted) {
    struct ordered_stream *stream = &merging->streams[merging->thread];
    stream->process = (uint32_t)part_next(file, 4);
    stream->number = (uint32_t)part_next(file, 4);
    struct later_counts later = {index, file->next};
    add_counts(merging, file, index, false);
    uint64_t size = part_next_count(file, 1);
    struct ordered_bytes bytes = {cursor_bytes(&file->next, size), size, index};
    check_part_file(file);
    if (!wanted)
        return;
    vector_push(&merging->arena, &stream->parts, bytes);
    vector_push(&merging->arena, &merging->later, later);
}

static void use_next(void *context, const struct memory_reference *reference, size_t file) {
    struct merging *merging = context;
    processors_use(merging->processors, reference,
                   counts_of(merging, &merging->files->data[file], file, reference->place));
}

/* Simulates all that was kept, and adds the references that were not. */
static void simulate_ordered(struct merging *merging, size_t threads) {
    if (!merge_order(merging->streams, threads, use_next, merging))
        refuse_part_file(&merging->files->data[0]);
    for (size_t i = 0; i < merging->later.count; i++) {
        const struct later_counts *later = &merging->later.data[i];
        struct part_file *file = &merging->files->data[later->file];
        file->next = later->next;
        add_counts(merging, file, later->file, true);
    }
    processors_end(merging->processors);
}

/* ---- all parts ---- */

/* Answers the events of a part of a thread, if they are WANTED, and sets the caches to what they
 * are behind it. */
static void replay(struct merging *merging, struct part_file *file, size_t index, bool wanted) {
    enum {
        EVENT_LEAST = 19 /* bytes */
    };
    uint64_t events = part_next_count(file, EVENT_LEAST);
    merging->event_count = 0;
    if (!wanted) {
        skip_events(file, events);
    } else {
        merging->missed = calloc(events + 1, 1);
        if (!merging->missed)
            die("out of memory: no room for %" PRIu64 " events", events);
        for (; events; events--)
            replay_event(merging, file, index);
    }
    struct cache *caches[] = {&merging->caches.instruction, &merging->caches.data,
                              &merging->caches.second, &merging->caches.last};
    for (size_t i = 0; i < sizeof caches / sizeof *caches; i++)
        set_contents(merging, file, caches[i], wanted);
    free(merging->missed);
    merging->missed = NULL;
}

/* Adds what FILE, number INDEX, has of the thread, if it is WANTED. */
static void add_simulated(struct merging *merging, struct part_file *file, size_t index,
                          bool wanted) {
    add_counts(merging, file, index, wanted);
    if (merging->merge->kind == PLACE_OBJECT)
        change_heap(merging, file, index, wanted);
    if (merging->merge->shape.inclusion == INCLUSION_INDEPENDENT)
        replay(merging, file, index, wanted);
    else
        use_kept(merging, file, index, wanted);
}

/* Adds the part that FILE, number INDEX, has of a thread, if it is WANTED. Returns whether the next
 * part of the thread is wanted. */
static bool add_thread(struct merging *merging, struct part_file *file, size_t index, bool wanted) {
    uint32_t id = (uint32_t)part_next(file, 4);
    const char *fault = part_next_text(file);
    if (merging->merge->processors)
        add_ordered(merging, file, index, wanted);
    else
        add_simulated(merging, file, index, wanted);
    if (wanted && fault)
        warn_of_source_fault(&merging->merge->source, id, fault);
    return wanted && !fault;
}

void merge_cache_parts(struct cache_merge *merge, const part_files *files) {
    struct merging merging = {.merge = merge};
    *merge = (struct cache_merge){.source.path = files->data[0].trace};
    merging.numbers = ARENA_ARRAY(&merging.arena, uint32_t *, files->count);
    merging.read = ARENA_ARRAY(&merging.arena, struct reference_place *, files->count);
    merging.place_counts = ARENA_ARRAY(&merging.arena, uint64_t, files->count);
    for (size_t i = 0; i < files->count; i++)
        read_file_begin(&merging, files, i);
    hierarchy_begin(&merging.caches, &merge->shape);
    if (merge->processors) {
        merging.files = files;
        merging.processors = processors_begin(&merge->shape, merge->processors);
        merging.streams =
            ARENA_ARRAY(&merging.arena, struct ordered_stream, (size_t)files->data[0].threads + 1);
    }
    for (uint64_t thread = 0; thread < files->data[0].threads; thread++) {
        bool wanted = true;
        merging.thread = thread;
        for (size_t i = 0; i < files->count; i++)
            wanted = add_thread(&merging, &files->data[i], i, wanted);
    }
    for (size_t i = 0; i < files->count; i++)
        if (cursor_left(&files->data[i].next))
            refuse_part_file(&files->data[i]);
    if (merge->processors)
        simulate_ordered(&merging, files->data[0].threads);
    hierarchy_release(&merging.caches);
    number_table_release(&merging.seen);
    arena_release(&merging.heaps.arena);
    arena_release(&merging.arena);
}

void cache_merge_release(struct cache_merge *merge) {
    free(merge->counts);
    arena_release(&merge->source.arena);
}

/* reuse_merge.c: adds up the stack distances of a trace's parts; see reuse_part.h. */
#include "cache/reuse_part.h"

#include "util/diag.h"

/* A part of a thread, in a file. */
struct thread_part {
    struct part_file *file;
    uint64_t begin;      /* references in front of it, if there are windows */
    struct cursor lines; /* at its end */
    uint64_t line_count;
    bool wanted; /* nothing is wrong with the parts of the thread in front of it */
};

/* Reads the next number, a distance in the part: it is below the number of the part's lines. */
static uint64_t next_distance(const struct thread_part *part) {
    uint64_t distance = part_next(part->file, 8);
    if (distance >= part->line_count)
        refuse_part_file(part->file);
    return distance;
}

static void add_distances(struct reuse *reuse, const struct thread_part *part) {
    for (uint64_t i = part_next_count(part->file, 16); i-- > 0;) {
        uint64_t distance = next_distance(part), references = part_next(part->file, 8);
        if (!part->wanted || !references)
            continue;
        reuse_count_distance(reuse, distance);
        reuse->distances.data[distance] += references - 1;
    }
}

static void add_windows(struct reuse *reuse, const struct thread_part *part) {
    uint64_t count = part_next_count(part->file, 8);
    uint64_t window = reuse->window ? part->begin / reuse->window : 0;
    if (count && !reuse->window)
        refuse_part_file(part->file);
    for (; count; count--, window++) {
        uint64_t lines = part_next(part->file, 8);
        while (part->wanted && reuse->working_set.count <= window)
            vector_push(&reuse->arena, &reuse->working_set, 0);
        if (part->wanted)
            reuse->working_set.data[window] += lines;
    }
}

/* The next reference has lines that the part uses for the first time. */
static void replay_first(struct reuse *reuse, const struct thread_part *part) {
    struct part_file *file = part->file;
    uint64_t distance = next_distance(part);
    bool in_first_window = part_next(file, 1);
    if (in_first_window && !reuse->window)
        refuse_part_file(file);
    for (uint64_t i = part_next_count(file, 8); i-- > 0;) {
        uint64_t line = part_next(file, 8);
        if (!part->wanted)
            continue;
        uint64_t one = reuse_use_line(reuse, line);
        distance = one > distance ? one : distance;
        if (in_first_window)
            reuse_enter_window(reuse, part->begin / reuse->window, true);
    }
    if (part->wanted)
        reuse_count_distance(reuse, distance);
}

/* Brings the part's lines into the order of their last uses. */
static void replay_lines(struct reuse *reuse, const struct thread_part *part) {
    struct cursor next = part->lines;
    for (uint64_t i = 0; i < part->line_count; i++) {
        (void)reuse_use_line(reuse, cursor_number(&next, 8));
        uint64_t window = cursor_number(&next, 8);
        reuse->lines.data[reuse->owners[reuse->next_slot - 1]].window = window;
    }
}

/* Adds the part that FILE has of a thread, if it is WANTED. Returns whether the next part of the
 * thread is wanted. */
static bool add_thread(struct reuse *reuse, const struct reference_source *source,
                       struct part_file *file, bool wanted) {
    enum {
        LINE_SIZE = 16,
        FIRST_LEAST = 17 /* bytes */
    };
    struct thread_part part = {.file = file, .wanted = wanted};
    uint32_t id = (uint32_t)part_next(file, 4);
    const char *fault = part_next_text(file);
    part.begin = part_next(file, 8);
    uint64_t references = part_next(file, 8);
    part.line_count = part_next_count(file, LINE_SIZE);
    part.lines = file->next;
    cursor_bytes(&file->next, part.line_count * LINE_SIZE);
    if (wanted && reuse->window && part.begin != reuse->references)
        refuse_part_file(file);
    add_distances(reuse, &part);
    add_windows(reuse, &part);
    for (uint64_t i = part_next_count(file, FIRST_LEAST); i-- > 0;)
        replay_first(reuse, &part);
    check_part_file(file);
    if (!wanted)
        return false;
    replay_lines(reuse, &part);
    reuse->references += references;
    if (fault)
        warn_of_source_fault(source, id, fault);
    return !fault;
}

void merge_reuse_parts(struct reuse *reuse, struct reference_source *source,
                       const part_files *files) {
    source->path = files->data[0].trace;
    for (size_t i = 0; i < files->count; i++) {
        struct part_file *file = &files->data[i];
        uint64_t line = part_next(file, 4), window = part_next(file, 8);
        check_part_file(file);
        if (!line || line & (line - 1) || line > REFERENCE_SIZE_MAX)
            refuse_part_file(file);
        if (i == 0)
            reuse_begin(reuse, (uint32_t)line, window);
        if (line != 1u << reuse->line_bits || window != reuse->window)
            die("'%s' and '%s' have other lines or windows; make all parts with the same options",
                files->data[0].path, file->path);
        source->unsure += file->unsure;
    }
    for (uint64_t thread = 0; thread < files->data[0].threads; thread++) {
        bool wanted = true;
        for (size_t i = 0; i < files->count; i++)
            wanted = add_thread(reuse, source, &files->data[i], wanted);
    }
    for (size_t i = 0; i < files->count; i++)
        if (cursor_left(&files->data[i].next))
            refuse_part_file(&files->data[i]);
}

/* parts.c: damaged results of parts (cache/part_file.h) end in an error, or in some result, and in
 * nothing else: no crash, no hang, no sanitizer's report. Their checksum is right, so that readers
 * see the damage; files whose checksum is wrong are tried, too.
 *
 *     parts SEEDS FIRST
 *
 * A child merges, as an error ends the program. */
#include "cache/cache_part.h"
#include "cache/reuse_part.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    PARTS = 3,
    REFERENCES = 900, /* of a part of a thread */
    THREADS = 2,
    SECONDS = 20 /* a merge may take */
};

static uint64_t state;
static bool keeps;   /* the levels of the parts depend on each other */
static bool orders;  /* they are for two processors */
static bool objects; /* their places are objects */
static uint32_t draw(uint32_t below) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 33) % below;
}

/* In the place of src/cache/source.c, which reads traces, too. */
void warn_of_source_fault(const struct reference_source *source, uint32_t id, const char *fault) {
    (void)source, (void)id, (void)fault;
}

/* ---- good parts ---- */

static size_t left; /* references of the part */

static size_t next_references(struct reference_source *source, struct memory_reference *references,
                              size_t most) {
    size_t count = 0;
    for (; count < most && left; count++, left--) {
        if (source->tells_tickets && draw(9) == 0) {
            references[count] =
                (struct memory_reference){.address = draw(99), .kind = REFERENCE_TICKET};
            continue;
        }
        uint32_t address = draw(2) ? draw(1 << 14) : draw(1 << 9);
        references[count] = (struct memory_reference){.address = address,
                                                      .size = 1 + draw(40),
                                                      .place = draw(objects ? 4 : 3),
                                                      .begins = draw(2),
                                                      .kind = (uint8_t)draw(REFERENCE_KINDS)};
    }
    return count;
}

static void begin_part(struct reference_source *source, size_t thread, uint32_t number,
                       uint32_t count) {
    (void)number, (void)count;
    left = REFERENCES;
    source->thread_id = (uint32_t)thread;
    source->fault = draw(20) ? NULL : "broken";
}

/* Ranges of a heap: pointers that were freed, what is covered, blocks. */
static void write_heap(struct reference_source *source, struct buffer *out) {
    (void)source;
    part_number(out, 1 + draw(2), 4);
    for (int list = 0; list < 3; list++) {
        uint32_t count = draw(4);
        part_number(out, count, 8);
        while (count-- > 0) {
            uint32_t begin = draw(1 << 9);
            part_number(out, begin, 8);
            part_number(out, begin + 1 + draw(100), 8);
            if (list == 2)
                part_number(out, draw(3), 4), part_number(out, draw(2), 1);
        }
    }
    part_number(out, 1, 8);
    part_number(out, draw(3), 4);
    part_number(out, 1, 8);
    part_number(out, 100, 8);
}

static struct reference_source make_source(void) {
    static const char *const names[] = {"first", "second", "third"};
    struct reference_source source = {
        .path = "trace", .threads = THREADS, .next = next_references, .begin_part = begin_part};
    source.write_heap = write_heap;
    for (int i = 0; i < 3; i++)
        vector_push(&source.arena, &source.places,
                    ((struct reference_place){.function = names[i], .file = names[i]}));
    for (uint32_t i = 0; i < 4; i++)
        vector_push(&source.arena, &source.touched, i);
    vector_push(&source.arena, &source.places,
                ((struct reference_place){
                    .object = OBJECT_PENDING, .identity = 100, .blocks = 1, .process = 1}));
    return source;
}

static void make_contents(struct buffer *contents, enum part_kind kind, struct part_choice part) {
    static const struct hierarchy_shape independent = {.instruction = {512, 2, 32},
                                                       .data = {512, 4, 16},
                                                       .second = {2048, 4, 32},
                                                       .last = {8192, 8, 64}};
    static const struct hierarchy_shape inclusive = {.instruction = {512, 2, 32},
                                                     .data = {512, 4, 32},
                                                     .last = {2048, 2, 32},
                                                     .inclusion = INCLUSION_INCLUSIVE};
    struct reference_source source = make_source();
    if (kind == PART_CACHE)
        simulate_cache_part(contents, &source, keeps || orders ? &inclusive : &independent,
                            orders ? 2 : 0, objects ? PLACE_OBJECT : PLACE_FUNCTION, part);
    else
        count_reuse_part(contents, &source, 64, 0, part);
    arena_release(&source.arena);
}

/* ---- damage ---- */

static void damage(struct buffer *bytes) {
    static const uint8_t values[] = {0, 1, 2, 127, 128, 255};
    for (uint32_t i = 1 + draw(4); i && bytes->count; i--) {
        /* what tells shapes and numbers of items is at the begin */
        size_t at = draw(3) ? draw((uint32_t)bytes->count) : draw(400) % bytes->count;
        size_t length = draw(2) ? 1 : 8;
        for (; length && at < bytes->count; length--, at++)
            bytes->data[at] = (char)(draw(2) ? values[draw(sizeof values)] : draw(256));
    }
    if (draw(12) == 0)
        bytes->count = draw((uint32_t)bytes->count + 1);
}

/* Writes a part to FILE, damaged or not, behind its checksum or in front of it. */
static void write_part(FILE *file, enum part_kind kind, struct part_choice part, bool damaged) {
    struct buffer contents = {0};
    make_contents(&contents, kind, part);
    bool behind = damaged && draw(10) == 0;
    if (damaged && !behind)
        damage(&contents);
    write_part_file(file, kind, part, &contents);
    fflush(file);
    if (behind) {
        struct buffer bytes = {0};
        rewind(file);
        buffer_read(&bytes, fileno(file));
        damage(&bytes);
        if (ftruncate(fileno(file), 0) != 0)
            exit(2);
        rewind(file);
        fwrite(bytes.data, 1, bytes.count, file);
        fflush(file);
        buffer_release(&bytes);
    }
    buffer_release(&contents);
    lseek(fileno(file), 0, SEEK_SET);
}

static void merge(FILE *const *list, enum part_kind kind) {
    struct arena arena = {0};
    part_files files = {0};
    for (int i = 0; i < PARTS; i++)
        vector_push(&arena, &files, read_part_file(fileno(list[i]), "part", kind));
    if (kind == PART_CACHE) {
        struct cache_merge result;
        merge_cache_parts(&result, &files);
        cache_merge_release(&result);
    } else {
        struct reuse reuse;
        struct reference_source source = {0};
        merge_reuse_parts(&reuse, &source, &files);
        reuse_release(&reuse);
    }
}

/* Returns the exit status of a child that merges parts, or 128 + its signal. */
static int try(uint64_t seed) {
    FILE *files[PARTS];
    state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    enum part_kind kind = draw(2) ? PART_CACHE : PART_REUSE;
    uint32_t damaged = draw(PARTS);
    keeps = draw(2);
    orders = draw(3) == 0;
    objects = !orders && draw(3) == 0;
    for (uint32_t i = 0; i < PARTS; i++) {
        files[i] = tmpfile();
        write_part(files[i], kind, (struct part_choice){i + 1, PARTS}, i == damaged);
    }
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        alarm(SECONDS);
        merge(files, kind);
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    for (int i = 0; i < PARTS; i++)
        fclose(files[i]);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int main(int argc, char **argv) {
    uint64_t seeds = argc > 1 ? strtoull(argv[1], NULL, 10) : 300;
    uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1, errors = 0;
    for (uint64_t seed = first; seed < first + seeds; seed++) {
        int status = try(seed);
        if (status > 1) {
            printf("seed %" PRIu64 ": a merge ends with %d\n", seed, status);
            return 1;
        }
        errors += status == 1;
    }
    /* Damage that is never seen would be no test, nor would damage that is always seen at once. */
    printf("%" PRIu64 " of %" PRIu64 " merges ended with an error\n", errors, seeds);
    return errors < seeds / 20 || errors == seeds;
}

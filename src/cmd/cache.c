/* cache.c: quipu cache FILE: the misses of simulated caches, by function, line, object or thread.
 */
#include "cmd/cache_table.h"
#include "cmd/cmd.h"
#include "cmd/command_line.h"
#include "cmd/jobs.h"
#include "cmd/trace_input.h"

#include "cache/cache.h"
#include "cache/cache_part.h"
#include "cache/processors.h"
#include "cache/source.h"
#include "util/diag.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void print_help(void) {
    fputs(
        "usage: quipu cache [OPTIONS] FILE\n"
        "       quipu cache --merge [OPTIONS] FILE...\n\n"
        "Simulates caches on the references of FILE, which 'quipu trace' wrote, and prints how\n"
        "many of them each level misses.  A cache is SIZE,WAYS,LINE, in bytes, such as\n"
        "32K,8,64; WAYS may be 'full'.\n\n"
        "      --l1i=CACHE      for instructions (32K,8,64)\n"
        "      --l1d=CACHE      for data (32K,8,64)\n"
        "      --l2=CACHE       the second level (none)\n"
        "      --llc=CACHE      the last level (8M,16,64); or none\n"
        "      --levels=RULE    what the last level holds beside the others: independent (the\n"
        "                       default, as in cachegrind), inclusive or exclusive\n"
        "      --processors=N   as many processors, with caches of their own but for the last level,\n"
        "                       and coherent (MESI); threads are in the order that they had, and\n"
        "                       take processors in turn; 'threads': one for each\n"
        "      --by=WHAT        what a row is: kind (of reference, the default), function, line,\n"
        "                       object (variable, heap block, stack frame), thread\n"
        "      --allocators=LIST  with --by=object: functions that allocate for their callers, by\n"
        "                       names or patterns with commas between them\n"
        "      --from=KIND      what FILE is: trace (default) or lackey, the text of 'valgrind\n"
        "                       --tool=lackey --trace-mem=yes'; standard input without FILE\n"
        "      --layout=BINARY  addresses of instructions as in BINARY, the same code built\n"
        "                       without quipu\n"
        "      --part=I/N       only part I of N: its result goes to the file of -o\n"
        "      --merge          FILE... are the results of all parts: print what they give together\n"
        "      --jobs=N         divide the work between N processes; the output is the same\n"
        "      --format=FORMAT  text (default), json or csv\n"
        "      --sort=COLUMN    numbers from high to low, names from low to high; -COLUMN the\n"
        "                       other way round\n"
        "      --limit=N        the first N rows only\n"
        "      --human          short numbers: 1.23G\n"
        "  -o, --output=FILE    write there instead of standard output\n"
        "      --help           print this\n",
        stdout);
}

/* ---- options ---- */

static void take_view(void *options, const char *word) {
    ((struct cache_options *)options)->view = choose_cache_view(word);
}

static void take_inclusion(void *options, const char *word) {
    ((struct cache_options *)options)->shape.inclusion = choose_inclusion(word);
}

static void take_processors(void *options, const char *word) {
    struct cache_options *all = options;
    all->of_threads = strcmp(word, "threads") == 0;
    all->processors =
        all->of_threads ? 1 : (unsigned)read_number("processors", word, PROCESSORS_MOST);
    if (!all->processors)
        die("'--processors=%s': name 1 to %d, or 'threads'", word, PROCESSORS_MOST);
}

static void take_from(void *options, const char *word) {
    ((struct cache_options *)options)->from = choose_source_format(word);
}

static void take_format(void *options, const char *word) {
    ((struct cache_options *)options)->format = choose_table_format(word);
}

static void take_limit(void *options, const char *word) {
    char *end;
    unsigned long long limit = strtoull(word, &end, 10);
    if (*word < '0' || *word > '9' || *end || limit > SIZE_MAX)
        die("'--limit=%s' is not a number of rows", word);
    ((struct cache_options *)options)->limit = limit;
}

static void take_part(void *options, const char *word) {
    struct part_choice *part = &((struct cache_options *)options)->parts.part;
    read_part(&part->number, &part->count, word);
}

static void take_jobs(void *options, const char *word) {
    ((struct cache_options *)options)->parts.jobs = read_jobs(word);
}

static void take_l1i(void *options, const char *word) {
    ((struct cache_options *)options)->shape.instruction = parse_cache_shape("--l1i", word);
}

static void take_l1d(void *options, const char *word) {
    ((struct cache_options *)options)->shape.data = parse_cache_shape("--l1d", word);
}

static struct cache_shape parse_optional(const char *option, const char *word) {
    struct cache_shape none = {0};
    return strcmp(word, "none") == 0 ? none : parse_cache_shape(option, word);
}

static void take_l2(void *options, const char *word) {
    ((struct cache_options *)options)->shape.second = parse_optional("--l2", word);
}

static void take_llc(void *options, const char *word) {
    ((struct cache_options *)options)->shape.last = parse_optional("--llc", word);
}

#define FIELD(name) offsetof(struct cache_options, name)

static const struct option_row rows[] = {
    {"l1i", 0, OPTION_PARSED, 0, take_l1i},
    {"l1d", 0, OPTION_PARSED, 0, take_l1d},
    {"l2", 0, OPTION_PARSED, 0, take_l2},
    {"llc", 0, OPTION_PARSED, 0, take_llc},
    {"levels", 0, OPTION_PARSED, 0, take_inclusion},
    {"processors", 0, OPTION_PARSED, 0, take_processors},
    {"by", 0, OPTION_PARSED, 0, take_view},
    {"allocators", 0, OPTION_TEXT, FIELD(allocators), NULL},
    {"from", 0, OPTION_PARSED, 0, take_from},
    {"layout", 0, OPTION_LIST, FIELD(layouts), NULL},
    {"part", 0, OPTION_PARSED, 0, take_part},
    {"merge", 0, OPTION_FLAG, FIELD(parts.merge), NULL},
    {"jobs", 0, OPTION_PARSED, 0, take_jobs},
    {"format", 0, OPTION_PARSED, 0, take_format},
    {"sort", 0, OPTION_TEXT, FIELD(sort), NULL},
    {"limit", 0, OPTION_PARSED, 0, take_limit},
    {"human", 0, OPTION_FLAG, FIELD(human), NULL},
    {"output", 'o', OPTION_TEXT, FIELD(output), NULL},
};

static const struct command_line command_line = {"cache", print_help, rows,
                                                 sizeof rows / sizeof *rows, false};

static struct hierarchy_shape default_shape(void) {
    return (struct hierarchy_shape){.instruction = parse_cache_shape("--l1i", "32K,8,64"),
                                    .data = parse_cache_shape("--l1d", "32K,8,64"),
                                    .last = parse_cache_shape("--llc", "8M,16,64")};
}

/* Finds how many processors are asked for. */
static void choose_processors(struct cache_options *options,
                              const struct reference_source *source) {
    if (!options->processors)
        return;
    if (!source->threads)
        die("'--processors': '%s' does not name threads; record a trace ('quipu trace')",
            source->path);
    if (options->of_threads && source->threads > PROCESSORS_MOST)
        die("'--processors=threads': '%s' has %zu threads; at most %d processors are simulated, so "
            "use --processors=%d",
            source->path, source->threads, PROCESSORS_MOST, PROCESSORS_MOST);
    if (options->of_threads)
        options->processors = (unsigned)source->threads;
    check_coherence(&options->shape);
}

/* Makes the processors that are asked for, and SOURCE give the threads in one order; returns NULL
 * if none are. */
static struct processors *make_processors(const struct cache_options *options,
                                          struct reference_source *source) {
    if (!options->processors)
        return NULL;
    source->global = true;
    return processors_begin(&options->shape, options->processors);
}

/* ---- parts ---- */

/* Returns NULL, or why a part of SOURCE cannot be simulated alone. */
static const char *lacks_parts(const struct cache_options *options,
                               const struct reference_source *source) {
    if (!source->begin_part)
        return "such a file cannot be cut into parts; record a trace ('quipu trace')";
    if (options->processors && options->view->place == PLACE_OBJECT)
        return "with --processors a part does not know what other threads have allocated";
    if (options->processors && source->scheduled)
        return "with --processors the threads are in the order of a schedule, which cannot be cut";
    return NULL;
}

struct part_context {
    const struct cache_options *options;
    struct reference_source *source;
};

static void make_part(void *context, struct part_choice part, struct buffer *contents) {
    struct part_context *parts = context;
    simulate_cache_part(contents, parts->source, &parts->options->shape, parts->options->processors,
                        parts->options->view->place, part);
}

static const struct part_work part_work = {PART_CACHE, make_part};

/* Prints what FILES give together. */
static void print_parts(struct cache_options *options, part_files *files) {
    struct cache_merge merge;
    merge_cache_parts(&merge, files);
    options->shape = merge.shape;
    options->processors = merge.processors;
    if (!options->view)
        options->view = cache_view_of(merge.kind);
    if (options->view->place != PLACE_PROGRAM && options->view->place != merge.kind)
        die("'--by=%s': the parts were made with --by=%s; make them again with this one",
            options->view->name, cache_view_of(merge.kind)->name);
    warn_of_unsure(&merge.source);
    write_cache_table(options, &merge.source, merge.counts);
    cache_merge_release(&merge);
    release_parts(files);
}

static bool is_default(const struct hierarchy_shape *shape) {
    const struct hierarchy_shape other = default_shape();
    return is_same_hierarchy(shape, &other);
}

/* --merge: the words are files of parts. */
static int merge_files(struct cache_options *options, char **paths, size_t count) {
    struct arena arena = {0};
    if (!is_default(&options->shape) || options->processors || options->from ||
        options->layouts.count || options->allocators)
        die("--merge prints what the parts have: give options of caches and of the trace where "
            "--part makes them");
    part_files files = read_part_files(&arena, paths, count, PART_CACHE);
    print_parts(options, &files);
    arena_release(&arena);
    return 0;
}

/* Makes one part, or all of them by jobs. Returns false if neither is asked for, or if one process
 * must do all. */
static bool simulate_parts(struct cache_options *options, struct reference_source *source) {
    struct part_context context = {options, source};
    const char *cause = lacks_parts(options, source);
    if (options->parts.part.count) {
        if (cause)
            die("'--part=%u/%u': %s", options->parts.part.number, options->parts.part.count, cause);
        write_part(&part_work, &context, options->parts.part, options->output);
        return true;
    }
    if (cause || options->parts.jobs < 2)
        return false;
    struct arena arena = {0};
    part_files files = make_parts(&arena, &part_work, &context, options->parts.jobs);
    print_parts(options, &files);
    arena_release(&arena);
    return true;
}

/* ---- the whole ---- */

static void simulate_whole(struct cache_options *options, struct reference_source *source) {
    struct hierarchy hierarchy;
    hierarchy_begin(&hierarchy, &options->shape);
    struct processors *processors = make_processors(options, source);
    struct cache_counts *counts = simulate_caches(source, &hierarchy, processors);
    warn_of_unsure(source);
    write_cache_table(options, source, counts);
    free(counts);
    hierarchy_release(&hierarchy);
    if (processors)
        processors_end(processors);
}

int cmd_cache(int argc, char **argv) {
    struct cache_options options = {.format = &table_text, .output = "-"};
    options.shape = default_shape();
    int first = take_options(&command_line, argc, argv, &options);
    if (!first)
        return 0;
    check_part_options(&options.parts);
    if (options.parts.merge)
        return merge_files(&options, argv + first, (size_t)(argc - first));
    if (!options.view)
        options.view = choose_cache_view("kind");
    check_levels(&options.shape);
    if (options.allocators && options.view->place != PLACE_OBJECT)
        die("'--allocators' needs --by=object");
    struct reference_source *source =
        open_source(options.from, argv + first, argc - first, options.view->place, argv[0]);
    source->allocators = options.allocators;
    lay_out_source(source, &options.layouts);
    choose_processors(&options, source);
    if (!simulate_parts(&options, source))
        simulate_whole(&options, source);
    source->close(source);
    return 0;
}

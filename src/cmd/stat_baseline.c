/* stat_baseline.c: quipu stat --baseline: which counts have grown since an earlier run.
 *
 *     error: counts grew by more than the 0.1% allowed: instructions
 *
 *        before      after   growth  event
 *         10000      10300  +3.000%  instructions
 *
 * Each kind is summed over all processes, and these sums decide. If both builds count instructions,
 * too, a second table shows the functions that grew, the largest difference first. They are matched
 * as in 'quipu diff'. */
#include "cmd/stat.h"

#include "flow/events.h"
#include "report/comparison.h"
#include "report/view.h"
#include "util/buffer.h"
#include "util/diag.h"
#include "util/json_reader.h"
#include "util/map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    FUNCTIONS_MAX = 20 /* rows of functions */
};

struct baseline_event {
    const char *name; /* of a kind or class */
    uint64_t count;
};

struct baseline {
    struct arena arena;
    const char *path;
    const char *limit;      /* as given, without the percent sign */
    long double max_growth; /* percent */
    VECTOR(struct baseline_event) events;
    struct profile profile; /* the functions, in one module; no files and binaries are open */
    struct module module;
    struct map file_numbers;
};

/* ---- reading ---- */

static void parse_limit(struct baseline *baseline, const char *text) {
    size_t length = strspn(text, "0123456789.");
    char *end;
    baseline->max_growth = strtold(text, &end);
    if (!length || end != text + length || (*end && strcmp(end, "%") != 0))
        die("'--max-growth=%s': give a percentage such as 0.1%%", text);
    baseline->limit = arena_copy(&baseline->arena, text, length);
}

static struct baseline_event *find_event(const struct baseline *baseline, const char *name) {
    for (size_t i = 0; i < baseline->events.count; i++)
        if (strcmp(baseline->events.data[i].name, name) == 0)
            return &baseline->events.data[i];
    return NULL;
}

static void add_baseline_event(struct baseline *baseline, const char *name, uint64_t count) {
    struct baseline_event event = {arena_copy(&baseline->arena, name, strlen(name)), count};
    vector_push(&baseline->arena, &baseline->events, event);
}

static void read_event(struct baseline *baseline, struct json_reader *json) {
    const char *key, *name = NULL;
    uint64_t count = 0;
    bool counted = false;
    while ((key = json_member(json))) {
        if (strcmp(key, "event") == 0)
            name = json_string_value(json);
        else if (strcmp(key, "count") == 0)
            counted = true, count = json_unsigned_value(json);
        else
            json_skip(json);
    }
    if (json->fault)
        return;
    struct baseline_event *event = name ? find_event(baseline, name) : NULL;
    if (!name || !counted)
        json->fault = "an event has no name or no count";
    else if (!event)
        add_baseline_event(baseline, name, count);
    else if (__builtin_add_overflow(event->count, count, &event->count))
        json->fault = "a count is too large";
}

/* Returns the number of source file FILE, and adds it to the profile if it is new. */
static uint32_t find_file(struct baseline *baseline, const char *file) {
    uint32_t fresh = (uint32_t)baseline->profile.files.count;
    uint32_t number =
        *map_add(&baseline->arena, &baseline->file_numbers, file, strlen(file), fresh);
    if (number == fresh)
        vector_push(&baseline->arena, &baseline->profile.files, file);
    return number;
}

static void read_function(struct baseline *baseline, struct json_reader *json) {
    struct function function = {.module = &baseline->module};
    const char *key;
    while ((key = json_member(json))) {
        if (strcmp(key, "name") == 0)
            function.name = json_string_value(json);
        else if (strcmp(key, "demangled") == 0)
            function.demangled = json_string_value(json);
        else if (strcmp(key, "file") == 0)
            function.file = find_file(baseline, json_string_value(json));
        else if (strcmp(key, "instructions") == 0)
            function.executed = json_unsigned_value(json);
        else
            json_skip(json);
    }
    if (json->fault)
        return;
    if (!function.name)
        json->fault = "a function has no name";
    if (!function.demangled)
        function.demangled = function.name;
    vector_push(&baseline->arena, &baseline->module.functions, function);
}

static void read_counts(struct baseline *baseline, struct json_reader *json) {
    const char *key;
    while ((key = json_member(json))) {
        if (strcmp(key, "events") == 0)
            while (json_element(json))
                read_event(baseline, json);
        else if (strcmp(key, "functions") == 0)
            while (json_element(json))
                read_function(baseline, json);
        else
            json_skip(json);
    }
    json_finish(json);
}

struct baseline *read_baseline(const char *path, const char *max_growth) {
    struct baseline *baseline = calloc(1, sizeof *baseline);
    if (!baseline)
        die("out of memory: %zu bytes asked for", sizeof *baseline);
    baseline->path = path;
    baseline->module.path = "";
    vector_push(&baseline->arena, &baseline->profile.modules, &baseline->module);
    (void)find_file(baseline, "");
    parse_limit(baseline, max_growth ? max_growth : "0");
    struct buffer text = {0};
    if (!buffer_read_file(&text, path))
        die("cannot read '%s': %s; write it by 'quipu stat --format=json -o'", path,
            strerror(errno));
    struct json_reader json = json_read(&baseline->arena, text.data ? text.data : "");
    read_counts(baseline, &json);
    if (!json.fault && text.data && strlen(text.data) != text.count)
        json.fault = "it is no text";
    if (!json.fault && !baseline->events.count)
        json.fault = "it holds no events";
    if (json.fault) {
        error_at(path, json.line, "%s; write it by 'quipu stat --format=json -o'", json.fault);
        exit(EXIT_FAILURE);
    }
    buffer_release(&text);
    return baseline;
}

void free_baseline(struct baseline *baseline) {
    arena_release(&baseline->arena);
    free(baseline);
}

/* ---- comparing ---- */

static bool grew(const uint64_t counts[SIDES], long double percent) {
    return counts[AFTER] > counts[BEFORE] && 100 * (long double)(counts[AFTER] - counts[BEFORE]) >
                                                 percent * (long double)counts[BEFORE];
}

enum growth_column {
    GROWTH_BEFORE,
    GROWTH_AFTER,
    GROWTH_PERCENT,
    GROWTH_NAME,
    GROWTH_COLUMNS,
};

static const struct column event_columns[GROWTH_COLUMNS] = {
    [GROWTH_BEFORE] = {"before", "before", CELL_COUNT, false, NULL},
    [GROWTH_AFTER] = {"after", "after", CELL_COUNT, false, NULL},
    [GROWTH_PERCENT] = {"growth", "    growth", CELL_TEXT, false, NULL},
    [GROWTH_NAME] = {"event", "event", CELL_TEXT, false, NULL},
};
static const struct column function_columns[GROWTH_COLUMNS] = {
    [GROWTH_BEFORE] = {"before", "before", CELL_COUNT, false, NULL},
    [GROWTH_AFTER] = {"after", "after", CELL_COUNT, false, NULL},
    [GROWTH_PERCENT] = {"growth", "    growth", CELL_TEXT, false, NULL},
    [GROWTH_NAME] = {"function", "instructions of function", CELL_TEXT, false, NULL},
};
static const uint8_t growth_text[] = {GROWTH_BEFORE, GROWTH_AFTER, GROWTH_PERCENT, GROWTH_NAME};
static const struct table_shape event_shape = {"events",    event_columns,      GROWTH_COLUMNS,
                                               growth_text, sizeof growth_text, NULL};
static const struct table_shape function_shape = {"functions", function_columns,   GROWTH_COLUMNS,
                                                  growth_text, sizeof growth_text, NULL};

static void add_growth(struct table *table, const uint64_t counts[SIDES], const char *name) {
    struct row *row = table_add(table);
    long double more = (long double)(counts[AFTER] - counts[BEFORE]);
    const char *growth = counts[BEFORE] ? arena_print(table->arena, "%+.3Lf%%",
                                                      100 * more / (long double)counts[BEFORE])
                                        : "new";
    row->executed = true;
    row->cells[GROWTH_BEFORE] = cell_count(counts[BEFORE]);
    row->cells[GROWTH_AFTER] = cell_count(counts[AFTER]);
    row->cells[GROWTH_PERCENT] = cell_text(arena_print(table->arena, "%10s", growth));
    row->cells[GROWTH_NAME] = cell_text(name);
}

static void write_growth(const struct table *table, bool human) {
    fputc('\n', stderr);
    table_write(table, &table_text, &(struct table_style){.out = stderr, .human = human}, 0);
}

static const char *name_function(struct arena *arena, const struct compared_row *function) {
    if (!*function->file)
        return function->demangled;
    return arena_print(arena, "%s (%s:%u)", function->demangled, short_path(arena, function->file),
                       (unsigned)function->line);
}

/* Shows the functions that grew, if both runs counted functions. */
static void show_functions(const struct baseline *baseline, struct profile *profile, bool human) {
    profile_count(profile, (struct selection){0});
    if (!baseline->module.functions.count || !profile->executed)
        return;
    struct arena arena = {0};
    struct table table = {.arena = &arena, .shape = &function_shape};
    struct comparison comparison = compare_profiles(&arena, &baseline->profile, profile);
    size_t more = 0;
    for (size_t i = 0; i < comparison.count; i++) {
        const struct compared_row *function = &comparison.rows[i];
        if (!grew(function->instructions, 0))
            continue;
        if (table.rows.count < FUNCTIONS_MAX)
            add_growth(&table, function->instructions, name_function(&arena, function));
        else
            more++;
    }
    if (table.rows.count)
        write_growth(&table, human);
    if (more)
        fprintf(stderr, "%zu more functions grew\n", more);
    arena_release(&arena);
}

/* Ends the program with an error if a kind of the baseline is not counted now. */
static void check_known(const struct baseline *baseline, const struct profile *profile) {
    for (size_t i = 0; i < baseline->events.count; i++) {
        const char *name = baseline->events.data[i].name;
        uint64_t count;
        if (!sum_events(profile, name, &count))
            die("'%s': it has a count of '%s', which the program does not count; build it with "
                "'--quipu-event=%s', or write the baseline anew",
                baseline->path, name, name);
    }
}

bool check_growth(const struct baseline *baseline, struct profile *profile, bool human) {
    struct arena arena = {0};
    struct table table = {.arena = &arena, .shape = &event_shape};
    const char *name, *names = "";
    check_known(baseline, profile);
    for (size_t k = 0; (name = event_name_at(profile, k)); k++) {
        uint64_t counts[SIDES] = {0};
        const struct baseline_event *before = find_event(baseline, name);
        if (!sum_events(profile, name, &counts[AFTER]))
            continue;
        if (!before)
            die("'%s': it has no count of '%s', which the program counts; write the baseline anew",
                baseline->path, name);
        counts[BEFORE] = before->count;
        if (!grew(counts, baseline->max_growth))
            continue;
        add_growth(&table, counts, name);
        names = arena_print(&arena, "%s%s%s", names, *names ? ", " : "", name);
    }
    bool failed = table.rows.count > 0;
    if (failed) {
        error("counts grew by more than the %s%% allowed since '%s': %s", baseline->limit,
              baseline->path, names);
        write_growth(&table, human);
        show_functions(baseline, profile, human);
    }
    arena_release(&arena);
    return failed;
}

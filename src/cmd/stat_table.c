/* stat_table.c: the counts of 'quipu stat' as a table, and as JSON that --baseline reads. */
#include "cmd/stat.h"
#include "format/event.h"

#include "flow/events.h"
#include "report/json_writer.h"
#include "report/programs.h"
#include "report/view.h"
#include "util/diag.h"

#include <inttypes.h>
#include <string.h>

enum stat_column {
    COLUMN_PROCESS,
    COLUMN_THREAD,
    COLUMN_OWNERS,
    COLUMN_PROGRAM,
    COLUMN_EVENT,
    COLUMN_COUNT,
    COLUMNS,
};

static const struct column columns[COLUMNS] = {
    [COLUMN_PROCESS] = {"process", "process", CELL_NUMBER, false, NULL},
    [COLUMN_THREAD] = {"thread", "thread", CELL_NUMBER, false, NULL},
    [COLUMN_OWNERS] = {"threads", "threads", CELL_COUNT, false, NULL},
    [COLUMN_PROGRAM] = {"program", "program", CELL_TEXT, false, NULL},
    [COLUMN_EVENT] = {"event", "event", CELL_TEXT, false, NULL},
    [COLUMN_COUNT] = {"count", "count", CELL_COUNT, false, NULL},
};
static const uint8_t process_text[] = {COLUMN_COUNT, COLUMN_EVENT, COLUMN_PROCESS, COLUMN_PROGRAM};
static const uint8_t thread_text[] = {COLUMN_COUNT,  COLUMN_EVENT,  COLUMN_PROCESS,
                                      COLUMN_THREAD, COLUMN_OWNERS, COLUMN_PROGRAM};
static const uint8_t event_text[] = {COLUMN_COUNT, COLUMN_EVENT};

static const struct table_shape shapes[] = {
    [ROWS_OF_PROCESSES] = {"events", columns, COLUMNS, process_text, sizeof process_text, NULL},
    [ROWS_OF_THREADS] = {"events", columns, COLUMNS, thread_text, sizeof thread_text, NULL},
    [ROWS_OF_EVENTS] = {"events", columns, COLUMNS, event_text, sizeof event_text, NULL},
};

/* ---- names ---- */

/* Returns the number of the kind or class NAME in MODULE; QUIPU_EVENTS: the module does not count
 * it. A class may have another number in each module. */
static uint32_t number_of(const struct module *module, const char *name) {
    const struct event_kind *kind = find_event_kind(name);
    if (kind)
        return module->event_kinds >> (kind->cell - 1) & 1 ? kind->cell - 1 : QUIPU_EVENTS;
    uint32_t number = QUIPU_EVENT_CLASSES;
    while (number < QUIPU_EVENTS &&
           !(module->classes[number].name && strcmp(module->classes[number].name, name) == 0))
        number++;
    return number;
}

/* Whether one of the first COUNT modules has the class, too. */
static bool has_class(const struct profile *profile, size_t count, const char *name) {
    for (size_t m = 0; m < count; m++)
        if (number_of(profile->modules.data[m], name) != QUIPU_EVENTS)
            return true;
    return false;
}

const char *event_name_at(const struct profile *profile, size_t index) {
    size_t kinds = 0;
    while (event_kind_at(kinds))
        kinds++;
    if (index < kinds)
        return event_kind_at(index)->name;
    index -= kinds;
    for (size_t m = 0; m < profile->modules.count; m++)
        for (uint32_t n = QUIPU_EVENT_CLASSES; n < QUIPU_EVENTS; n++) {
            const char *name = profile->modules.data[m]->classes[n].name;
            if (name && !has_class(profile, m, name) && index-- == 0)
                return name;
        }
    return NULL;
}

/* Ends the program with an error if another module has CLASS with another pattern. */
static void check_class(const struct profile *profile, const struct module *module,
                        const struct event_class *class) {
    for (size_t m = 0; class->name && m < profile->modules.count; m++) {
        const struct module *other = profile->modules.data[m];
        uint32_t number = number_of(other, class->name);
        if (number != QUIPU_EVENTS && strcmp(other->classes[number].pattern, class->pattern) != 0)
            die("'%s' counts '%s=%s', and '%s' counts '%s=%s'; build both with one pattern",
                other->path, class->name, other->classes[number].pattern, module->path, class->name,
                class->pattern);
    }
}

static void check_classes(const struct profile *profile) {
    for (size_t m = 0; m < profile->modules.count; m++) {
        const struct module *module = profile->modules.data[m];
        if (module->class_conflict)
            die("'%s': %s; build all files with the same --quipu-event options in the same order",
                module->path, module->class_conflict);
        for (uint32_t n = QUIPU_EVENT_CLASSES; n < QUIPU_EVENTS; n++)
            check_class(profile, module, &module->classes[n]);
    }
}

/* ---- sums ---- */

/* Adds to SUM the events of thread OWNER or, if that is 0, of all threads of the process. Returns
 * whether any of them counts the kind. */
static bool add_events(const struct process *process, uint32_t owner, const char *name,
                       uint64_t *sum) {
    bool counted = false;
    for (size_t i = 0; i < process->threads.count; i++) {
        const struct thread_cells *thread = vector_at(&process->threads, i);
        uint32_t number = number_of(thread->module, name);
        if (number == QUIPU_EVENTS || (owner && thread->owner != owner))
            continue;
        counted = true;
        CHECK(thread->events);
        *sum += thread->events->counts[number];
    }
    return counted;
}

bool sum_events(const struct profile *profile, const char *name, uint64_t *sum) {
    bool counted = false;
    *sum = 0;
    for (size_t i = 0; i < profile->processes.count; i++)
        counted |= add_events(&profile->processes.data[i], 0, name, sum);
    return counted;
}

/* ---- rows ---- */

static struct row *add_row(struct table *table, const char *name, uint64_t count) {
    struct row *row = table_add(table);
    row->executed = count != 0;
    row->cells[COLUMN_EVENT] = cell_text(name);
    row->cells[COLUMN_COUNT] = cell_count(count);
    return row;
}

/* Adds the row of THREAD or, if that is NULL, of the whole process. */
static void add_part(struct table *table, const struct process *process,
                     const struct thread_cells *thread, const char *name) {
    uint64_t count = 0;
    if (!add_events(process, thread ? thread->owner : 0, name, &count))
        return;
    struct row *row = add_row(table, name, count);
    row->cells[COLUMN_PROCESS] = cell_known(process->pid, process->pid);
    row->cells[COLUMN_PROGRAM] = cell_text(*process->command ? process->command : process->program);
    if (!thread)
        return;
    uint32_t owners = 0; /* in the module with the most */
    for (size_t i = 0; i < process->threads.count; i++)
        if (process->threads.data[i].owner == thread->owner &&
            process->threads.data[i].threads > owners)
            owners = process->threads.data[i].threads;
    row->cells[COLUMN_THREAD] = cell_known(thread->owner, thread->owner);
    row->cells[COLUMN_OWNERS] = cell_count(owners);
}

static bool is_first_of_owner(const struct process *process, size_t index) {
    for (size_t i = 0; i < index; i++)
        if (process->threads.data[i].owner == process->threads.data[index].owner)
            return false;
    return true;
}

static void add_process(struct table *table, const struct profile *profile,
                        const struct process *process, bool threads) {
    const char *name;
    for (size_t k = 0; !threads && (name = event_name_at(profile, k)); k++)
        add_part(table, process, NULL, name);
    for (size_t i = 0; threads && i < process->threads.count; i++)
        for (size_t k = 0; is_first_of_owner(process, i) && (name = event_name_at(profile, k)); k++)
            add_part(table, process, &process->threads.data[i], name);
}

static void add_sums(struct table *table, const struct profile *profile) {
    const char *name;
    uint64_t count;
    for (size_t k = 0; (name = event_name_at(profile, k)); k++)
        if (sum_events(profile, name, &count))
            add_row(table, name, count);
}

/* Sets the heading: "./prog 20: 3 processes, 5 threads", for example. */
static void set_heading(struct table *table, struct arena *arena, const struct profile *profile) {
    uint64_t threads = count_all_threads(profile);
    table->subject = programs_text(arena, profile, (struct selection){0});
    table->heading = arena_print(arena, ": %s, %" PRIu64 " thread%s",
                                 processes_text(arena, profile, (struct selection){0}), threads,
                                 threads == 1 ? "" : "s");
}

/* ---- JSON ---- */

static void write_functions(struct json_writer *json, struct profile *profile) {
    profile_count(profile, (struct selection){0});
    if (!profile->executed)
        return;
    json_open_array(json, "functions");
    for (size_t m = 0; m < profile->modules.count; m++)
        for (size_t i = 0; i < profile->modules.data[m]->functions.count; i++) {
            const struct function *function = &profile->modules.data[m]->functions.data[i];
            if (!function->executed)
                continue;
            json_open_object(json, NULL);
            json_string(json, "name", function->name);
            json_string(json, "demangled", function->demangled);
            json_string(json, "file", profile->files.data[function->file]);
            json_unsigned(json, "instructions", function->executed);
            json_close(json);
        }
    json_close(json);
}

/* Writes the rows and, if FUNCTIONS and if the build also counts instructions, those of each
 * function. */
static void write_json(const struct table *table, struct profile *profile, bool functions,
                       FILE *out) {
    struct json_writer json = json_start(out, 2);
    json_open_object(&json, NULL);
    json_open_array(&json, table->shape->name);
    for (size_t i = 0; i < table->rows.count; i++) {
        const struct cell *cells = table->rows.data[i].cells;
        json_open_object(&json, NULL);
        for (size_t c = 0; c < COLUMNS; c++)
            if (cells[c].known && columns[c].kind == CELL_TEXT)
                json_string(&json, columns[c].name, cells[c].text);
            else if (cells[c].known)
                json_unsigned(&json, columns[c].name, cells[c].count);
        json_close(&json);
    }
    json_close(&json);
    if (functions)
        write_functions(&json, profile);
    json_close(&json);
    json_end(&json);
}

void write_counts(struct profile *profile, const struct stat_options *options, FILE *out) {
    struct arena arena = {0};
    struct table table = {.arena = &arena, .shape = &shapes[options->rows]};
    check_classes(profile);
    profile_read_events(profile);
    if (options->rows == ROWS_OF_EVENTS)
        add_sums(&table, profile);
    for (size_t i = 0; i < profile->processes.count && options->rows != ROWS_OF_EVENTS; i++)
        add_process(&table, profile, &profile->processes.data[i], options->rows == ROWS_OF_THREADS);
    if (!table.rows.count)
        die("no events were counted; build with 'quipu cc --quipu=event'");
    if (options->sort)
        table_sort(&table, options->sort);
    set_heading(&table, &arena, profile);
    struct table_style style = {
        .out = out, .human = options->human, .width = options->wide ? 0 : table_width(out)};
    /* functions of a running process are still counting */
    if (options->format == &table_json)
        write_json(&table, profile, !options->pid, out);
    else
        table_write(&table, options->format, &style, 0);
    arena_release(&arena);
}

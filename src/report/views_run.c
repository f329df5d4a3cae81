/* views_run.c: views by module, thread and process. */
#include "report/programs.h"
#include "report/view.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- modules ---- */

enum module_column {
    MODULE_PATH,
    MODULE_BUILD_ID,
    MODULE_FUNCTIONS,
    MODULE_LEFT_ALONE,
    MODULE_INSTRUCTIONS,
    MODULE_STATIC,
    MODULE_NEVER,
    MODULE_SHARE,
    MODULE_NAME,
};

static const struct column module_columns[] = {
    [MODULE_PATH] = {"module", "path", CELL_TEXT, false, NULL},
    [MODULE_BUILD_ID] = {"build_id", "build id", CELL_TEXT, false, NULL},
    [MODULE_FUNCTIONS] = {"functions", "functions", CELL_COUNT, false, "functions"},
    [MODULE_LEFT_ALONE] = {"left_alone", "left alone", CELL_COUNT, false, "left_alone"},
    [MODULE_INSTRUCTIONS] = {"instructions", "instructions", CELL_COUNT, false, "instructions"},
    [MODULE_STATIC] = {"static_instructions", "in module", CELL_COUNT, false,
                       "static_instructions"},
    [MODULE_NEVER] = {"never_executed_instructions", "never run", CELL_COUNT, false,
                      "never_executed_instructions"},
    [MODULE_SHARE] = {"percent", "%", CELL_SHARE, true, NULL},
    [MODULE_NAME] = {"name", "module", CELL_TEXT, true, NULL},
};

const char *build_id_text(struct arena *arena, const struct module *module) {
    char *text = arena_alloc(arena, 2 * (size_t)module->build_id_size + 1);
    for (size_t i = 0; i < module->build_id_size; i++) {
        text[2 * i] = "0123456789abcdef"[module->build_id[i] >> 4];
        text[2 * i + 1] = "0123456789abcdef"[module->build_id[i] & 15];
    }
    return text;
}

static void show_module(struct view_input *input, const struct module *module) {
    uint64_t instructions = 0, never = 0;
    for (size_t i = 0; i < module->functions.count; i++) {
        instructions += module->functions.data[i].instruction_count;
        never += module->functions.data[i].never_executed;
    }
    struct row *row = table_add(input->table);
    row->share = share_of_all(input, module->executed);
    row->executed = module->executed;
    row->cells[MODULE_PATH] = cell_text(module->path);
    row->cells[MODULE_BUILD_ID] = cell_text(build_id_text(input->arena, module));
    row->cells[MODULE_FUNCTIONS] = cell_count(module->functions.count);
    row->cells[MODULE_LEFT_ALONE] = cell_count(module->left_alone.count);
    row->cells[MODULE_INSTRUCTIONS] = cell_count(module->executed);
    row->cells[MODULE_STATIC] = cell_count(instructions);
    row->cells[MODULE_NEVER] = cell_count(never);
    row->cells[MODULE_SHARE] = cell_share(row->share);
    row->cells[MODULE_NAME] = cell_text(short_path(input->arena, module->path));
}

static void collect_modules(struct view_input *input) {
    for (size_t i = 0; i < input->profile->modules.count; i++)
        if (shows_module(input, input->profile->modules.data[i]))
            show_module(input, input->profile->modules.data[i]);
}

static const uint8_t module_text[] = {MODULE_INSTRUCTIONS, MODULE_SHARE,     MODULE_STATIC,
                                      MODULE_NEVER,        MODULE_FUNCTIONS, MODULE_LEFT_ALONE,
                                      MODULE_NAME};

const struct view view_module = {
    .name = "module",
    .help = "the same by executable and shared object",
    .shape =
        &(const struct table_shape){
            .name = "modules",
            .columns = module_columns,
            .column_count = sizeof module_columns / sizeof *module_columns,
            .text = module_text,
            .text_count = sizeof module_text,
            .sort = "instructions",
        },
    .collect = collect_modules,
};

typedef VECTOR(struct part) part_vector;

static bool shows_to_parts(const void *input, const struct function *function) {
    return shows_function(input, function);
}

/* Counts each of PARTS, over the functions that the filter shows. */
static void count_all(const struct view_input *input, const part_vector *parts) {
    count_parts(input->profile, parts->data, parts->count, shows_to_parts, input);
}

/* ---- threads ---- */

enum thread_column {
    THREAD_PID,
    THREAD_THREAD,
    THREAD_OWNERS,
    THREAD_PROGRAM,
    THREAD_INSTRUCTIONS,
    THREAD_SHARE,
    THREAD_NAME,
};

static const struct column thread_columns[] = {
    [THREAD_PID] = {"process", "process", CELL_NUMBER, false, NULL},
    [THREAD_THREAD] = {"thread", "thread", CELL_NUMBER, false, NULL},
    [THREAD_OWNERS] = {"threads", "threads", CELL_COUNT, false, NULL},
    [THREAD_PROGRAM] = {"program", "path", CELL_TEXT, false, NULL},
    [THREAD_INSTRUCTIONS] = {"instructions", "instructions", CELL_COUNT, false, "instructions"},
    [THREAD_SHARE] = {"percent", "%", CELL_SHARE, true, NULL},
    [THREAD_NAME] = {"name", "program", CELL_TEXT, true, NULL},
};

/* A thread of a process, according to its slots. The last owner of a slot represents all earlier
 * ones. */
struct thread_sum {
    uint32_t owner;
    uint32_t threads; /* number of threads that have owned the slot, in the module with the most */
};

typedef VECTOR(struct thread_sum) thread_sums;

static int compare_owners(const void *left, const void *right) {
    const struct thread_sum *a = left, *b = right;
    return a->owner < b->owner ? -1 : a->owner > b->owner;
}

/* Returns the owners of PROCESS's slots in increasing order, each once. */
static thread_sums find_threads(struct arena *arena, const struct process *process) {
    thread_sums threads = {0};
    for (size_t i = 0; i < process->threads.count; i++)
        vector_push(arena, &threads,
                    ((struct thread_sum){process->threads.data[i].owner,
                                         process->threads.data[i].threads}));
    size_t kept = 0;
    if (threads.count)
        qsort(threads.data, threads.count, sizeof *threads.data, compare_owners);
    for (size_t i = 0; i < threads.count; i++) {
        struct thread_sum *last = kept ? &threads.data[kept - 1] : NULL;
        if (!last || last->owner != threads.data[i].owner)
            threads.data[kept++] = threads.data[i];
        else if (last->threads < threads.data[i].threads)
            last->threads = threads.data[i].threads;
    }
    threads.count = kept;
    return threads;
}

static void show_thread(struct view_input *input, const struct part *part, uint32_t owners) {
    const struct process *process = part->selection.process;
    uint32_t owner = part->selection.owner;
    struct row *row = table_add(input->table);
    row->executed = part->executed;
    row->share = share_of_all(input, part->executed);
    row->cells[THREAD_PID] = cell_known(process->pid, process->pid);
    row->cells[THREAD_THREAD] = cell_known(owner, owner);
    row->cells[THREAD_OWNERS] = cell_count(owners);
    row->cells[THREAD_PROGRAM] = cell_text(process->program);
    row->cells[THREAD_INSTRUCTIONS] = cell_count(part->executed);
    row->cells[THREAD_SHARE] = cell_share(row->share);
    row->cells[THREAD_NAME] = cell_text(short_path(input->arena, process->program));
}

static bool is_selected(const struct view_input *input, const struct process *process) {
    return !input->selection.process || input->selection.process == process;
}

static void collect_threads(struct view_input *input) {
    part_vector parts = {0};
    VECTOR(uint32_t) owners = {0}; /* number of owners of each part's slots */
    for (size_t i = 0; i < input->profile->processes.count; i++) {
        const struct process *process = &input->profile->processes.data[i];
        if (!is_selected(input, process))
            continue;
        thread_sums threads = find_threads(input->arena, process);
        for (size_t j = 0; j < threads.count; j++) {
            uint32_t owner = threads.data[j].owner;
            if (input->selection.owner && input->selection.owner != owner)
                continue;
            vector_push(input->arena, &parts,
                        ((struct part){.selection = {.process = process, .owner = owner}}));
            vector_push(input->arena, &owners, threads.data[j].threads);
        }
    }
    count_all(input, &parts);
    for (size_t i = 0; i < parts.count; i++)
        show_thread(input, &parts.data[i], owners.data[i]);
}

static const uint8_t thread_text[] = {THREAD_INSTRUCTIONS, THREAD_SHARE,  THREAD_PID,
                                      THREAD_THREAD,       THREAD_OWNERS, THREAD_NAME};

const struct view view_thread = {
    .name = "thread",
    .help =
        "instructions executed by thread; one that took over another's cells has its counts too",
    .shape =
        &(const struct table_shape){
            .name = "threads",
            .columns = thread_columns,
            .column_count = sizeof thread_columns / sizeof *thread_columns,
            .text = thread_text,
            .text_count = sizeof thread_text,
            .sort = "instructions",
        },
    .collect = collect_threads,
};

/* ---- processes ---- */

enum process_column {
    PROCESS_PID,
    PROCESS_PARENT,
    PROCESS_PROGRAM,
    PROCESS_COMMAND,
    PROCESS_START,
    PROCESS_DATA,
    PROCESS_THREADS,
    PROCESS_INSTRUCTIONS,
    PROCESS_RANK,
    PROCESS_SHARE,
    PROCESS_SECOND,
    PROCESS_NAME,
};

static const struct column process_columns[] = {
    [PROCESS_PID] = {"process", "process", CELL_NUMBER, false, NULL},
    [PROCESS_PARENT] = {"parent", "parent", CELL_NUMBER, false, NULL},
    [PROCESS_PROGRAM] = {"program", "program", CELL_TEXT, false, NULL},
    [PROCESS_COMMAND] = {"command", "command", CELL_TEXT, false, NULL},
    [PROCESS_START] = {"start", "start", CELL_TEXT, false, NULL},
    [PROCESS_DATA] = {"data", "data file", CELL_TEXT, false, NULL},
    [PROCESS_THREADS] = {"threads", "threads", CELL_COUNT, false, NULL},
    [PROCESS_INSTRUCTIONS] = {"instructions", "instructions", CELL_COUNT, false, "instructions"},
    [PROCESS_RANK] = {"rank", "rank", CELL_NUMBER, false, NULL},
    [PROCESS_SHARE] = {"percent", "%", CELL_SHARE, true, NULL},
    [PROCESS_SECOND] = {"second", "start", CELL_FIGURE, true, NULL},
    [PROCESS_NAME] = {"name", "command", CELL_TEXT, true, NULL},
};

/* Returns "2026-11-27 20:55:28" for "2026-11-27T20:55:28.823Z". */
static const char *second_of(struct arena *arena, const char *time) {
    size_t day = strcspn(time, "T");
    return arena_print(arena, "%.*s %.*s", (int)day, time, (int)strcspn(time + day, ".") - 1,
                       time + day + 1);
}

const char *time_text(struct arena *arena, uint64_t nanoseconds) {
    char text[64];
    time_t seconds = (time_t)(nanoseconds / 1000000000);
    struct tm broken;
    if (!gmtime_r(&seconds, &broken) || !strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &broken))
        return "";
    return arena_print(arena, "%s.%03uZ", text, (unsigned)(nanoseconds / 1000000 % 1000));
}

uint64_t count_threads(const struct process *process) {
    uint64_t most = 0; /* every module counts the threads in it */
    for (size_t i = 0; i < process->modules.count; i++) {
        uint64_t threads = 0;
        for (size_t j = 0; j < process->threads.count; j++)
            if (process->threads.data[j].module_number == i)
                threads += process->threads.data[j].threads;
        most = threads > most ? threads : most;
    }
    return most;
}

uint64_t count_all_threads(const struct profile *profile) {
    uint64_t threads = 0;
    for (size_t i = 0; i < profile->processes.count; i++)
        threads += count_threads(&profile->processes.data[i]);
    return threads;
}

static void show_process(struct view_input *input, const struct part *part) {
    const struct process *process = part->selection.process;
    struct row *row = table_add(input->table);
    row->executed = part->executed;
    row->share = share_of_all(input, part->executed);
    row->cells[PROCESS_PID] = cell_known(process->pid, process->pid);
    row->cells[PROCESS_PARENT] = cell_known(process->parent_pid, process->parent_pid);
    row->cells[PROCESS_PROGRAM] = cell_text(process->program);
    row->cells[PROCESS_COMMAND] = cell_text(process->command);
    const char *start = time_text(input->arena, process->start_time);
    row->cells[PROCESS_START] = cell_text(start);
    row->cells[PROCESS_SECOND] = cell_text(*start ? second_of(input->arena, start) : "");
    row->cells[PROCESS_DATA] = cell_text(process->file);
    row->cells[PROCESS_THREADS] = cell_count(count_threads(process));
    row->cells[PROCESS_INSTRUCTIONS] = cell_count(part->executed);
    row->cells[PROCESS_RANK] = cell_known(process->rank - 1, process->rank);
    row->cells[PROCESS_SHARE] = cell_share(row->share);
    const char *command = process->merged ? program_text(input->arena, process) : process->command;
    row->cells[PROCESS_NAME] = cell_text(
        process->rank ? arena_print(input->arena, "rank %u: %s", process->rank - 1, command)
                      : command);
}

static void collect_processes(struct view_input *input) {
    part_vector parts = {0};
    for (size_t i = 0; i < input->profile->processes.count; i++) {
        const struct process *process = &input->profile->processes.data[i];
        struct selection selection = {.process = process, .owner = input->selection.owner};
        if (is_selected(input, process))
            vector_push(input->arena, &parts, ((struct part){.selection = selection}));
    }
    count_all(input, &parts);
    for (size_t i = 0; i < parts.count; i++)
        show_process(input, &parts.data[i]);
}

static const uint8_t process_text[] = {PROCESS_INSTRUCTIONS, PROCESS_SHARE,   PROCESS_PID,
                                       PROCESS_PARENT,       PROCESS_THREADS, PROCESS_SECOND,
                                       PROCESS_NAME};

const struct view view_process = {
    .name = "process",
    .help = "instructions executed by process, its threads, start and command",
    .shape =
        &(const struct table_shape){
            .name = "processes",
            .columns = process_columns,
            .column_count = sizeof process_columns / sizeof *process_columns,
            .text = process_text,
            .text_count = sizeof process_text,
            .sort = "instructions",
        },
    .collect = collect_processes,
};

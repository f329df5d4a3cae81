/* views_source.c: views by source file and line. */
#include "report/line_counts.h"
#include "report/view.h"

/* ---- lines ---- */

enum line_column {
    LINE_FILE,
    LINE_LINE,
    LINE_EXECUTIONS,
    LINE_INSTRUCTIONS,
    LINE_STATIC,
    LINE_NEVER,
    LINE_SHARE,
    LINE_LOCATION,
};

static const struct column line_columns[] = {
    [LINE_FILE] = {"file", "file", CELL_TEXT, false, NULL},
    [LINE_LINE] = {"line", "line", CELL_COUNT, false, NULL},
    [LINE_EXECUTIONS] = {"executions", "executions", CELL_COUNT, false, NULL},
    [LINE_INSTRUCTIONS] = {"instructions", "instructions", CELL_COUNT, false, "instructions"},
    [LINE_STATIC] = {"static_instructions", "in line", CELL_COUNT, false, "static_instructions"},
    [LINE_NEVER] = {"never_executed_instructions", "never run", CELL_COUNT, false,
                    "never_executed_instructions"},
    [LINE_SHARE] = {"percent", "%", CELL_SHARE, true, NULL},
    [LINE_LOCATION] = {"location", "line", CELL_TEXT, true, NULL},
};

static void show_line(struct view_input *input, uint32_t file, const struct line_count *line) {
    struct row *row = table_add(input->table);
    row->share = share_of_all(input, line->instructions);
    row->executed = line->instructions;
    row->cells[LINE_FILE] = cell_text(input->profile->files.data[file]);
    row->cells[LINE_LINE] = cell_count(line->line);
    row->cells[LINE_EXECUTIONS] = cell_count(line->executions);
    row->cells[LINE_INSTRUCTIONS] = cell_count(line->instructions);
    row->cells[LINE_STATIC] = cell_count(line->static_instructions);
    row->cells[LINE_NEVER] = cell_count(line->never_executed);
    row->cells[LINE_SHARE] = cell_share(row->share);
    row->cells[LINE_LOCATION] =
        cell_text(location_text(input->arena, input->profile, file, line->line));
}

static void collect_lines(struct view_input *input) {
    const struct line_counts *counts =
        count_lines(input->arena, filter_profile(input->arena, input->profile, input->filter));
    for (size_t i = 0; i < counts->file_count; i++)
        for (size_t j = 0; j < counts->files[i].line_count; j++)
            if (shows_file(input, counts->files[i].file))
                show_line(input, counts->files[i].file, &counts->files[i].lines[j]);
}

static const uint8_t line_text[] = {LINE_EXECUTIONS, LINE_INSTRUCTIONS, LINE_SHARE,
                                    LINE_STATIC,     LINE_NEVER,        LINE_LOCATION};

const struct view view_line = {
    .name = "line",
    .help = "executions of each source line, instructions executed for it",
    .shape =
        &(const struct table_shape){
            .name = "lines",
            .columns = line_columns,
            .column_count = sizeof line_columns / sizeof *line_columns,
            .text = line_text,
            .text_count = sizeof line_text,
            .sort = "instructions",
        },
    .of_code = true,
    .collect = collect_lines,
};

/* ---- files ---- */

enum file_column {
    FILE_FILE,
    FILE_LINES,
    FILE_LINES_EXECUTED,
    FILE_INSTRUCTIONS,
    FILE_STATIC,
    FILE_NEVER,
    FILE_SHARE,
    FILE_NAME,
};

static const struct column file_columns[] = {
    [FILE_FILE] = {"file", "path", CELL_TEXT, false, NULL},
    [FILE_LINES] = {"lines", "lines", CELL_COUNT, false, "lines"},
    [FILE_LINES_EXECUTED] = {"lines_executed", "lines run", CELL_COUNT, false, "lines_executed"},
    [FILE_INSTRUCTIONS] = {"instructions", "instructions", CELL_COUNT, false, "instructions"},
    [FILE_STATIC] = {"static_instructions", "in file", CELL_COUNT, false, "static_instructions"},
    [FILE_NEVER] = {"never_executed_instructions", "never run", CELL_COUNT, false,
                    "never_executed_instructions"},
    [FILE_SHARE] = {"percent", "%", CELL_SHARE, true, NULL},
    [FILE_NAME] = {"name", "file", CELL_TEXT, true, NULL},
};

/* Sums over the lines of one file. */
struct file_sums {
    uint64_t lines, lines_executed, instructions, static_instructions, never_executed;
};

/* FILE 0 is code whose line is not known. */
static void show_file(struct view_input *input, uint32_t file, const struct file_sums *sums) {
    const char *path = input->profile->files.data[file];
    struct row *row = table_add(input->table);
    row->share = share_of_all(input, sums->instructions);
    row->executed = sums->instructions;
    row->cells[FILE_FILE] = cell_text(path);
    row->cells[FILE_LINES] = cell_count(sums->lines);
    row->cells[FILE_LINES_EXECUTED] = cell_count(sums->lines_executed);
    row->cells[FILE_INSTRUCTIONS] = cell_count(sums->instructions);
    row->cells[FILE_STATIC] = cell_count(sums->static_instructions);
    row->cells[FILE_NEVER] = cell_count(sums->never_executed);
    row->cells[FILE_SHARE] = cell_share(row->share);
    row->cells[FILE_NAME] = cell_text(file ? short_path(input->arena, path) : "(no line known)");
}

static struct file_sums sum_file(const struct file_lines *file) {
    struct file_sums sums = {.lines = file->line_count};
    for (size_t i = 0; i < file->line_count; i++) {
        const struct line_count *line = &file->lines[i];
        sums.lines_executed += line->executions != 0;
        sums.instructions += line->instructions;
        sums.static_instructions += line->static_instructions;
        sums.never_executed += line->never_executed;
    }
    return sums;
}

static void add_unknown(const struct function *function, struct file_sums *sums) {
    for (size_t i = 0; i < function->instruction_count; i++) {
        const struct instruction *instruction = &function->instructions[i];
        if (instruction->file && instruction->line)
            continue;
        sums->instructions += instruction->count;
        sums->static_instructions++;
        sums->never_executed += instruction->count == 0;
    }
}

static void collect_files(struct view_input *input) {
    const struct profile *part = filter_profile(input->arena, input->profile, input->filter);
    const struct line_counts *counts = count_lines(input->arena, part);
    for (size_t i = 0; i < counts->file_count; i++) {
        struct file_sums sums = sum_file(&counts->files[i]);
        if (shows_file(input, counts->files[i].file))
            show_file(input, counts->files[i].file, &sums);
    }
    struct file_sums unknown = {0};
    for (size_t i = 0; i < part->modules.count; i++)
        for (size_t j = 0; j < part->modules.data[i]->functions.count; j++)
            add_unknown(&part->modules.data[i]->functions.data[j], &unknown);
    if (unknown.static_instructions && shows_file(input, 0))
        show_file(input, 0, &unknown);
}

static const uint8_t file_text[] = {FILE_INSTRUCTIONS, FILE_SHARE, FILE_LINES, FILE_LINES_EXECUTED,
                                    FILE_STATIC,       FILE_NEVER, FILE_NAME};

const struct view view_file = {
    .name = "file",
    .help = "the same by source file, and how many of its lines ran",
    .shape =
        &(const struct table_shape){
            .name = "files",
            .columns = file_columns,
            .column_count = sizeof file_columns / sizeof *file_columns,
            .text = file_text,
            .text_count = sizeof file_text,
            .sort = "instructions",
        },
    .of_code = true,
    .collect = collect_files,
};

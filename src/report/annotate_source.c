/* annotate_source.c: writes source with counts beside each line:
 *
 *     max.c: 1234 instructions executed, 5 of 6 lines run
 *      executions  instructions       %   line
 *                                           11  int max(const int *v, int n) {
 *               1             5    0.4%     12      int most = v[0];
 *             100           300   24.3%     13      for (int i = 1; i < n; i++)
 *           #####                           14          abort();
 *
 * line_counts.h defines executions. ##### marks a line that has code but never ran. A line without
 * code has no numbers.
 *
 * Not perfect: if a source file was changed after the run, its counts do not fit its lines any
 * more. A warning reports this, by comparing the times of both. */
#include "format/notes.h"
#include "report/annotate.h"

#include "report/line_counts.h"
#include "report/patterns.h"
#include "report/style.h"
#include "util/diag.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A line that is shown. */
struct shown_line {
    uint32_t line;
    const struct line_count *count; /* NULL: it has no code */
    bool marked;                    /* it is hot */
};

/* A file, and the lines of it that are shown. */
struct shown_file {
    const struct file_lines *lines;
    const struct source_text *text;
    uint64_t instructions;
    uint32_t first, last; /* the lines that may be shown */
    bool *marked;         /* by index in lines: whether the line is hot */
    bool any_marked;
};

typedef VECTOR(struct shown_file) shown_files;

static bool is_wanted(const char *wanted, const char *path) {
    while (strncmp(wanted, "./", 2) == 0)
        wanted += 2;
    if (matches(wanted, path))
        return true;
    char *real = realpath(wanted, NULL);
    bool same = real && strcmp(real, path) == 0;
    free(real);
    return same;
}

bool annotates_file(const struct annotation *annotation, uint32_t file) {
    for (size_t i = 0; i < annotation->file_count; i++)
        if (is_wanted(annotation->files[i], annotation->profile->files.data[file]))
            return true;
    return annotation->file_count == 0;
}

void need_annotated(const struct annotation *annotation) {
    const struct profile *profile = annotation->profile;
    need_matches(profile, annotation->filter);
    for (size_t i = 0; i < annotation->file_count; i++) {
        bool found = false;
        for (size_t file = 1; !found && file < profile->files.count; file++)
            found = is_wanted(annotation->files[i], profile->files.data[file]);
        if (!found)
            refuse_file(profile, annotation->files[i], annotation->files[i]);
    }
}

bool is_narrow(const struct annotation *annotation) {
    return (annotation->filter.functions.count != 0) + (annotation->filter.modules.count != 0) +
               (annotation->file_count != 0) >
           1;
}

void write_source_line(FILE *out, const char *text) {
    size_t length = strlen(text);
    if (length && text[length - 1] == '\r')
        length--;
    write_text_safely(out, text, length, "\t");
}

/* ---- the files and lines that are shown ---- */

static uint64_t newest_run(const struct profile *profile) {
    uint64_t newest = 0;
    for (size_t i = 0; i < profile->processes.count; i++)
        if (profile->processes.data[i].start_time > newest)
            newest = profile->processes.data[i].start_time;
    return newest;
}

static void warn_if_newer(const struct annotation *annotation, const struct source_text *text) {
    struct stat status;
    uint64_t run = newest_run(annotation->profile);
    if (!run || stat(text->path, &status) != 0)
        return;
    uint64_t changed =
        (uint64_t)status.st_mtim.tv_sec * 1000000000 + (uint64_t)status.st_mtim.tv_nsec;
    if (changed > run)
        warn("'%s': changed after the program ran; its lines may not fit the counts", text->path);
}

/* Sets the range of lines that contain the code of the requested functions. Without such a request,
 * all lines are in the range. */
static void find_range(const struct annotation *annotation, struct shown_file *shown) {
    shown->first = 1;
    shown->last = UINT32_MAX;
    if (!annotation->filter.functions.count)
        return;
    uint32_t first = UINT32_MAX, last = 0;
    for (size_t i = 0; i < annotation->profile->modules.count; i++) {
        const struct module *module = annotation->profile->modules.data[i];
        for (size_t j = 0; j < module->functions.count; j++) {
            const struct function *function = &module->functions.data[j];
            if (function->file != shown->lines->file ||
                !filter_shows(annotation->filter, annotation->profile, function))
                continue;
            first = function->line && function->line < first ? function->line : first;
            for (size_t k = 0; k < function->instruction_count; k++) {
                const struct instruction *instruction = &function->instructions[k];
                if (!instruction->copy && instruction->file == function->file &&
                    instruction->line > last)
                    last = instruction->line;
            }
        }
    }
    shown->first = first;
    shown->last = last;
}

static bool in_range(const struct shown_file *shown, uint32_t line) {
    return line >= shown->first && line <= shown->last;
}

static void add_file(struct annotation *annotation, shown_files *files,
                     const struct file_lines *lines) {
    struct shown_file shown = {.lines = lines};
    find_range(annotation, &shown);
    if (shown.first > shown.last)
        return;
    shown.text = source_text(&annotation->sources, lines->file);
    shown.marked = ARENA_ARRAY(annotation->arena, bool, lines->line_count);
    for (size_t i = 0; i < lines->line_count; i++)
        if (in_range(&shown, lines->lines[i].line))
            shown.instructions += lines->lines[i].instructions;
    vector_push(annotation->arena, files, shown);
}

static int compare_files(const void *left, const void *right) {
    const struct shown_file *a = left, *b = right;
    if (a->instructions != b->instructions)
        return a->instructions < b->instructions ? 1 : -1;
    return a->lines->file < b->lines->file ? -1 : a->lines->file > b->lines->file;
}

/* Removes files whose source is not found. Warns of each one if files were requested, otherwise
 * once for all of them. */
static void drop_missing(const struct annotation *annotation, shown_files *files) {
    size_t kept = 0, missing = 0;
    const struct source_text *first = NULL;
    for (size_t i = 0; i < files->count; i++) {
        const struct source_text *text = files->data[i].text;
        if (text->path) {
            files->data[kept++] = files->data[i];
            continue;
        }
        first = first ? first : text;
        missing++;
        if (annotation->file_count)
            warn("source file not found; looked for %s; add --source=DIR", text->looked);
    }
    files->count = kept;
    if (missing && !kept)
        die("no source file found; looked for %s; add --source=DIR or use --asm", first->looked);
    if (missing && !annotation->file_count)
        warn("%zu of %zu source files not found; the first: looked for %s; add --source=DIR",
             missing, missing + kept, first->looked);
}

static shown_files find_files(struct annotation *annotation) {
    shown_files files = {0};
    const struct line_counts *counts =
        count_lines(annotation->arena,
                    filter_profile(annotation->arena, annotation->profile, annotation->filter));
    for (size_t i = 0; i < counts->file_count; i++)
        if (annotates_file(annotation, counts->files[i].file))
            add_file(annotation, &files, &counts->files[i]);
    if (!files.count && is_narrow(annotation))
        die(NOTHING_TOGETHER);
    if (!files.count && annotation->filter.functions.count)
        die("'%s': no source line of it is known; compile with -g, or use --asm",
            annotation->filter.functions.data[0]);
    if (!files.count && annotation->file_count)
        die("'%s': no line of it has counts; 'quipu report --by=file' lists the files",
            annotation->files[0]);
    if (!files.count)
        die("no line has counts: the program has no debug information; compile with -g, or use "
            "--asm");
    drop_missing(annotation, &files);
    qsort(files.data, files.count, sizeof *files.data, compare_files);
    return files;
}

/* ---- the hottest lines ---- */

struct hot_line {
    struct shown_file *file;
    size_t index; /* in file.lines */
};

static int compare_hot(const void *left, const void *right) {
    const struct hot_line *a = left, *b = right;
    uint64_t x = a->file->lines->lines[a->index].instructions;
    uint64_t y = b->file->lines->lines[b->index].instructions;
    if (x != y)
        return x < y ? 1 : -1;
    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    return a->index < b->index ? -1 : 1;
}

static void mark_hot(struct annotation *annotation, shown_files *files) {
    VECTOR(struct hot_line) hot = {0};
    for (size_t i = 0; i < files->count; i++)
        for (size_t j = 0; j < files->data[i].lines->line_count; j++)
            if (in_range(&files->data[i], files->data[i].lines->lines[j].line) &&
                files->data[i].lines->lines[j].instructions)
                vector_push(annotation->arena, &hot, ((struct hot_line){&files->data[i], j}));
    if (hot.count)
        qsort(hot.data, hot.count, sizeof *hot.data, compare_hot);
    for (size_t i = 0; i < hot.count && i < annotation->hot; i++) {
        hot.data[i].file->marked[hot.data[i].index] = true;
        hot.data[i].file->any_marked = true;
    }
}

/* ---- writing ---- */

enum {
    NUMBER_WIDTH = 14
};

static void write_branches(const struct annotation *annotation, const struct line_count *count) {
    for (size_t i = 0; i < count->branch_count; i++) {
        const struct line_branch *branch = &count->branches[i];
        struct arena scratch = {0};
        char place[INSTRUCTION_TEXT_MAX];
        instruction_place(branch->function, &branch->function->instructions[branch->instruction],
                          place, sizeof place);
        fputs(style_start(annotation->color, STYLE_DIM), annotation->out);
        fprintf(annotation->out, "%*s branch at ", 2 * NUMBER_WIDTH, "");
        write_safely(annotation->out, styled_symbols(&scratch, annotation->names, place));
        arena_release(&scratch);
        fputc(':', annotation->out);
        for (size_t j = 0; j < branch->target_count; j++) {
            const struct branch_target *target = &branch->targets[j];
            const char *what = target->edge->kind == QUIPU_EDGE_NOT_TAKEN ? "not taken" : "taken";
            fprintf(annotation->out, "%s %s %" PRIu64, j ? "," : "", what, target->count);
        }
        fprintf(annotation->out, "%s\n", style_end(annotation->color, STYLE_DIM));
    }
}

static void write_line(const struct annotation *annotation, const struct shown_file *file,
                       const struct shown_line *line) {
    char executions[NUMBER_MAX] = "", instructions[NUMBER_MAX] = "", percent[NUMBER_MAX] = "";
    const struct line_count *count = line->count;
    enum style look = STYLE_PLAIN;
    if (count && !count->executions) {
        snprintf(executions, sizeof executions, "#####");
        look = STYLE_NEVER;
    } else if (count) {
        double share = (double)count->instructions / (double)annotation->profile->executed;
        print_number(executions, count->executions, annotation->human);
        print_number(instructions, count->instructions, annotation->human);
        snprintf(percent, sizeof percent, "%.1f%%", 100 * share);
        look = style_of_share(share);
    }
    fputs(style_start(annotation->color, look), annotation->out);
    fprintf(annotation->out, "%*s%*s%8s%s%6" PRIu32, NUMBER_WIDTH, executions, NUMBER_WIDTH,
            instructions, percent, line->marked ? " >" : "  ", line->line);
    const char *text = source_line(file->text, line->line);
    text = text ? text : "(not in this file any more)";
    fputs(*text ? "  " : "", annotation->out);
    write_source_line(annotation->out, text);
    fprintf(annotation->out, "%s\n", style_end(annotation->color, look));
    if (count && annotation->branches)
        write_branches(annotation, count);
}

static void write_heading(const struct annotation *annotation, const struct shown_file *file) {
    size_t run = 0, all = 0;
    char number[NUMBER_MAX];
    for (size_t i = 0; i < file->lines->line_count; i++) {
        if (!in_range(file, file->lines->lines[i].line))
            continue;
        all++;
        run += file->lines->lines[i].executions != 0;
    }
    print_number(number, file->instructions, annotation->human);
    fputs(style_start(annotation->color, STYLE_TITLE), annotation->out);
    write_safely(annotation->out, short_path(annotation->arena, file->text->path));
    fprintf(annotation->out, ": %s instructions executed, %zu of %zu lines run\n", number, run,
            all);
    fprintf(annotation->out, "%*s%*s%8s%8s%s\n", NUMBER_WIDTH, "executions", NUMBER_WIDTH,
            "instructions", "%", "line", style_end(annotation->color, STYLE_TITLE));
}

/* Writes all lines in the file's order. If only hot lines are requested, writes these and the lines
 * around them. */
static void write_in_order(const struct annotation *annotation, const struct shown_file *file) {
    const struct line_count *lines = file->lines->lines;
    size_t line_count = file->lines->line_count, next = 0, shown = 0;
    uint32_t end = (uint32_t)file->text->count;
    if (line_count && lines[line_count - 1].line > end)
        end = lines[line_count - 1].line; /* the file has become shorter */
    end = file->last < end ? file->last : end;
    uint64_t until = 0; /* last line of the present surroundings of a hot line */
    size_t ahead = 0;   /* index of the next line to test whether it is hot */
    for (uint32_t number = file->first; number <= end; number++) {
        while (next < line_count && lines[next].line < number)
            next++;
        for (; ahead < line_count && lines[ahead].line <= number + annotation->context; ahead++)
            if (file->marked[ahead])
                until = lines[ahead].line + (uint64_t)annotation->context;
        if (annotation->hot && number > until) {
            shown = 0;
            continue;
        }
        if (annotation->hot && !shown++ && number > 1)
            fprintf(annotation->out, "%*s\n", 2 * NUMBER_WIDTH + 16, "...");
        bool has_code = next < line_count && lines[next].line == number;
        struct shown_line line = {number, has_code ? &lines[next] : NULL,
                                  has_code && file->marked[next]};
        write_line(annotation, file, &line);
    }
}

static int compare_counts(const void *left, const void *right) {
    const struct line_count *a = *(const struct line_count *const *)left;
    const struct line_count *b = *(const struct line_count *const *)right;
    if (a->instructions != b->instructions)
        return a->instructions < b->instructions ? 1 : -1;
    return a->line < b->line ? -1 : a->line > b->line;
}

/* Writes the lines with code, the most executed first. */
static void write_by_count(const struct annotation *annotation, const struct shown_file *file) {
    VECTOR(const struct line_count *) order = {0};
    for (size_t i = 0; i < file->lines->line_count; i++)
        if (in_range(file, file->lines->lines[i].line) && (!annotation->hot || file->marked[i]))
            vector_push(annotation->arena, &order, &file->lines->lines[i]);
    if (order.count)
        qsort(order.data, order.count, sizeof *order.data, compare_counts);
    for (size_t i = 0; i < order.count; i++)
        write_line(annotation, file,
                   &(struct shown_line){order.data[i]->line, order.data[i], false});
}

void annotate_source(struct annotation *annotation) {
    shown_files files = find_files(annotation);
    const char *separator = "";
    if (annotation->hot)
        mark_hot(annotation, &files);
    for (size_t i = 0; i < files.count; i++) {
        const struct shown_file *file = &files.data[i];
        if (annotation->hot && !file->any_marked)
            continue;
        warn_if_newer(annotation, file->text);
        fputs(separator, annotation->out);
        separator = "\n";
        write_heading(annotation, file);
        if (annotation->by_count)
            write_by_count(annotation, file);
        else
            write_in_order(annotation, file);
    }
}
